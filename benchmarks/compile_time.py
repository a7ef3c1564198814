"""The cost of compiling models: seconds, peak memory and instantiated templates, for a language
model of 1, 6, 12 and 24 layers, its forward pass and its training."""
import os
import pathlib
import re
import subprocess
import tempfile

LAYERS = (1, 6, 12, 24)
USES = {
    "forward": 'void run(const int* x) {{\n'
               '  weft::module<bench::language_model<{0}>, "logits"> net;\n'
               '  net(weft::arg<"tokens">(std::span(x, 1024)));\n}}\n',
    "training": 'void run(const int* x, const int* y) {{\n'
                '  weft::trainer<bench::language_model<{0}>> trainer;\n'
                '  trainer.step(weft::arg<"tokens">(std::span(x, 1024)),\n'
                '               weft::arg<"targets">(std::span(y, 1024)));\n}}\n',
}
ALL_TARGETS = "-DHWY_IS_TEST=1"


def cost(command):
    """User seconds and peak memory in MB of a command, its children included."""
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime, used.ru_maxrss / 1024


def instantiations(command, folder):
    """The number of instantiated classes and functions, from clang's time trace."""
    trace = folder / "trace.o"
    subprocess.run([*command, "-ftime-trace", "-ftime-trace-granularity=0", "-o", trace], check=True)
    text = trace.with_suffix(".json").read_text()
    return len(re.findall(r'"name":\s*"Instantiate(?:Function|Class)"', text))


def name_of(compiler):
    text = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"\d+(\.\d+)+", text)[0]
    return f"{'clang' if 'clang' in text else 'g++'} {version.split('.')[0]}"


def measure(about, wanted, layers=LAYERS):
    """Yields a case per compiler, use and number of layers, and one for the growth per layer, where
    the regular expression `wanted` is found in the name without the number."""
    # Naming one of the compiler's default folders again would change their search order.
    includes = [f"-I{path}" for path in dict.fromkeys(about["includes"]) if path != "/usr/include"]
    for compiler in about["compilers"]:
        clang = name_of(compiler).startswith("clang")
        limit = "-fconstexpr-steps=2000000000" if clang else "-fconstexpr-ops-limit=2000000000"
        base = [compiler, "-std=c++20", "-O2", limit, *includes]
        for use, text in USES.items():
            if not re.search(wanted, f"compile/{name_of(compiler)}/{use}"):
                continue
            costs = {}
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)

                def compiled(count, *more):
                    source = folder / "model.cpp"
                    source.write_text('#include "benchmarks/models/language.hpp"\n#include <span>\n'
                                      + text.format(count))
                    command = [*base, *more, "-c", source]
                    seconds, megabytes = cost([*command, "-o", folder / "model.o"])
                    case = {"case": f"compile/{name_of(compiler)}/{use}/{count}",
                            "seconds": seconds, "megabytes": megabytes}
                    if clang and not more:
                        case["instantiations"] = instantiations(command, folder)
                    return case

                for count in layers:
                    costs[count] = compiled(count)
                    yield costs[count]
                every = compiled(layers[-1], ALL_TARGETS)
                every["case"] += "/all targets"
                yield every
            first, last = costs[layers[0]], costs[layers[-1]]
            yield {"case": f"compile/{name_of(compiler)}/{use}/for each layer more",
                   **{key: (last[key] - first[key]) / (layers[-1] - layers[0])
                      for key in first if key != "case"}}
