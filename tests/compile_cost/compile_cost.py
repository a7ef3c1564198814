#!/usr/bin/env python3
"""What models cost to compile, counted so that it does not depend on the machine.

    compile_cost.py MODEL COMMAND...            whether the counts of MODEL.cpp are at the ceilings
    compile_cost.py --measure COMMAND...        writes the counts of all models to ceilings.json

COMMAND is clang++ with its options, such as: clang++ -std=c++20 -Iinclude -Itests -I.
A model's file evaluates all of its compilation in one constant expression, and then uses the model.
The counts are the steps of that evaluation, which -fconstexpr-steps limits, and the templates that are
instantiated, in -ftime-trace. They depend on the versions of clang and of the standard library, which
ceilings.json names. Exits with 77 for others.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CEILINGS = HERE / "ceilings.json"
MARGIN = 0.03
MOST = 2**31 - 1
SKIPPED = 77


def version(command):
    """Those of clang and libstdc++, which the counts depend on."""
    said = subprocess.run([*command, "-x", "c++", "-include", "version", "-E", "-dM", "/dev/null"],
                          capture_output=True, text=True, check=True).stdout
    macros = dict(re.findall(r"#define (\w+) (.*)", said))
    name = "clang" if "__clang__" in macros else "g++"
    major = macros["__clang_major__" if name == "clang" else "__GNUC__"]
    return f"{name} {major}, libstdc++ {macros.get('_GLIBCXX_RELEASE', 'none')}"


def instantiations(command, model, steps):
    """Those of a file, or None where its evaluation takes more steps."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "-Xclang", "-fsyntax-only", "-Wfatal-errors", f"-fconstexpr-steps={steps}",
             "-ftime-trace", "-ftime-trace-granularity=0", "-o", f"{folder}/{model}.o",
             "-c", HERE / f"{model}.cpp"], capture_output=True, text=True)
        if done.returncode == 0:
            trace = pathlib.Path(folder, f"{model}.json").read_text()
            return len(re.findall(r'"name":\s*"Instantiate(?:Class|Function)"', trace))
        if "hit maximum step limit" in done.stderr:
            return None
        sys.exit(done.stderr)


def fewest_steps(command, model, low, high, within):
    """The steps that the evaluation takes, more than `low` and perhaps `high`; and instantiations."""
    while (count := instantiations(command, model, high)) is None:
        if high == MOST:
            sys.exit(f"compile_cost: {model}: more than {MOST} steps")
        low, high = high, min(2 * high, MOST)
    while high - low > within * low:
        middle = (low + high) // 2
        if (found := instantiations(command, model, middle)) is None:
            low = middle
        else:
            high, count = middle, found
    return high, count


def measure(command):
    models = {}
    for file in sorted(HERE.glob("*.cpp")):
        steps, count = fewest_steps(command, file.stem, 1, 2**20, 0.001)
        models[file.stem] = {"steps": steps, "instantiations": count}
        print(f"compile_cost: {file.stem}: {steps} steps, {count} instantiations", flush=True)
    CEILINGS.write_text(json.dumps({"version": version(command), "models": models}, indent=2) + "\n")
    return 0


def check(model, command):
    ceilings = json.loads(CEILINGS.read_text())
    if version(command) != ceilings["version"]:
        print(f"compile_cost: skipped: the ceilings are {ceilings['version']}'s, and this is "
              f"{version(command)}")
        return SKIPPED
    ceiling = ceilings["models"][model]
    most = int((1 + MARGIN) * ceiling["steps"])
    counts = {"steps": ceiling["steps"], "instantiations": instantiations(command, model, most)}
    if counts["instantiations"] is None:
        counts["steps"], counts["instantiations"] = fewest_steps(command, model, most, int(1.2 * most), 0.01)
    result = 0
    for what, count in counts.items():
        change = count / ceiling[what] - 1
        said = f"compile_cost: {model}: {what}: "
        if abs(change) <= MARGIN:
            print(f"{said}at most {MARGIN:.0%} above the ceiling {ceiling[what]}")
        elif change < 0:
            print(f"{said}{count}, {-change:.1%} below the ceiling: lower it by --measure")
        else:
            print(f"{said}{count}, {change:.1%} above the ceiling {ceiling[what]}")
            result = 1
    return result


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    sys.exit(measure(rest) if first == "--measure" else check(first, rest))
