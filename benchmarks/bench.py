#!/usr/bin/env python3
"""Runs the benchmarks and shows one table of weft and the best of its peers: on the terminal, and in
bench.tsv, bench.json and bench.svg in the build folder; and one of their errors, bench-errors.tsv."""
import argparse
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys

import chart
import compilers
import compile_time

COLUMNS = ("case", "weft", "P-share", "best-peer", "its-name", "ratio")
ERROR_COLUMNS = ("case", "error", "best-peer", "its-name")
TARGET_COLUMNS = ("case", "target", "weft", "P-share")
RATES = ("contraction", "small", "vector")  # shown as rates; the others as times


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def reached(case, seconds):
    """A contender's performance, in the usual unit of its kind of work."""
    if "elements" in case:
        return f"{seconds / case['elements'] * 1e9:.3f} ns"
    if case["case"].split("/")[0] not in RATES:
        return duration(seconds)
    if "bytes" in case:
        return f"{case['bytes'] / seconds / 1e9:.1f} GB/s"
    return f"{case['operations'] / seconds / 1e9:.1f} GFLOP/s"


def row_of(case):
    """A row of the table. A share of the read bandwidth instead of the peak is marked with a B."""
    row = dict.fromkeys(COLUMNS, "") | {"case": case["case"], "target": case["target"]}
    own = next(one for one in case["contenders"] if one["name"] == "weft")
    row["weft"] = reached(case, own["seconds"])
    if "share" in own:
        row["P-share"] = f"{own['share']:.2f}" + (" B" if "bytes" in case else "")
    others = [one for one in case["contenders"] if not one["name"].startswith("weft")]
    if others:
        best = min(others, key=lambda one: one["seconds"])
        row["best-peer"] = reached(case, best["seconds"])
        row["its-name"] = best["name"]
        row["ratio"] = f"{best['seconds'] / own['seconds']:.2f}"
    return row


def row_of_speed_up(case):
    """The speed-up of weft on the threads of a case over weft on one."""
    own, alone = (next((one for one in case["contenders"] if one["name"] == name), None)
                  for name in ("weft", "weft, one thread"))
    if not alone:
        return None
    return dict.fromkeys(COLUMNS, "") | {
        "case": case["case"] + "/speed-up", "weft": f"{alone['seconds'] / own['seconds']:.2f}"}


def row_of_compiling(case):
    shown = f"{case['seconds']:.2f} s, {case['megabytes']:.0f} MB"
    if "instantiations" in case:
        shown += f", {case['instantiations']:.0f} templates"
    return dict.fromkeys(COLUMNS, "") | {"case": case["case"], "weft": shown}


def row_of_errors(case):
    """The largest error of results against those in double, in epsilons of the largest element."""
    row = dict.fromkeys(ERROR_COLUMNS, "") | {"case": case["case"]}
    peers = {name: error for name, error in case["errors"].items() if not name.startswith("weft")}
    row["error"] = f"{case['errors']['weft']:.2g}"
    if peers:
        row["its-name"] = min(peers, key=peers.get)
        row["best-peer"] = f"{peers[row['its-name']]:.2g}"
    return row


def row_of_compilers(case, times):
    """The time of each compiler's code, and the ratio of the slowest to the fastest."""
    return {"case": case["case"], "target": case["target"],
            **{compiler: reached(case, seconds) for compiler, seconds in times.items()},
            "slowest/fastest": f"{max(times.values()) / min(times.values()):.2f}"}


class table:
    """Prints rows as they are added."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = []
        self.show(dict(zip(columns, columns)))

    def add(self, row):
        self.rows.append(row)
        self.show(row)

    def show(self, row):
        widths = {"case": 36, "weft": 24, "its-name": 18}
        print("  ".join(row[name].ljust(widths.get(name, 14)) for name in self.columns).rstrip(),
              flush=True)

    def write(self, path):
        lines = [self.columns] + [[row[name] for name in self.columns] for row in self.rows]
        path.write_text("".join("\t".join(line) + "\n" for line in lines))


def machine():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{names[0] if names else platform.machine()}, {len(names)} cores"


def cases_of(program, options):
    """Yields a program's lines as they are printed; raises RuntimeError if it fails, as where a
    peer's result differs."""
    with subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise RuntimeError(f"{program} ended with {process.returncode}")


def compare_compilers(given, about, options):
    names = given.compilers.split(",")
    shown = table(("case", "target", *names, "slowest/fastest"))
    effort = "quick" if given.quick else "full"
    for case, times in compilers.compare(names, about, options, effort):
        shown.add(row_of_compilers(case, times))
    place = pathlib.Path(about["results"]) / "bench-compilers.tsv"
    shown.write(place)
    print(f"\nthe same in {place}")


def regular_expression(text):
    try:
        re.compile(text)
    except re.error as problem:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {problem}") from None
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter repetitions")
    parser.add_argument("--filter", default="", metavar="REGEX", type=regular_expression,
                        help="only cases that it is found in")
    parser.add_argument("--targets", nargs="?", const="all", default="", metavar="NAMES",
                        help="weft alone, on every SIMD target that this machine runs, or on those "
                             "named: AVX3,AVX2")
    parser.add_argument("--compilers", default="", metavar="NAMES",
                        help="weft alone, as compilers build it: g++,clang++-19")
    parser.add_argument("--about", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    given = parser.parse_args()
    about = json.loads(given.about.read_text())
    options = ["--filter", given.filter]
    try:
        if given.compilers:
            compare_compilers(given, about, [*options, "--targets", given.targets or "best"])
            return 0
        subprocess.run(["cmake", "--build", about["results"], "--target", "weft_bench"], check=True)
    except (OSError, RuntimeError, subprocess.CalledProcessError) as problem:
        return f"bench: {problem}"
    options += ["--quick"] if given.quick else []
    options += ["--targets", given.targets] if given.targets else []

    shown = table(TARGET_COLUMNS if given.targets else COLUMNS)
    cases, failed = [], []
    programs = about["programs"] + (about["without_peers"] if given.targets else [])
    for program in programs:
        try:
            for case in cases_of(program, options):
                cases.append(case)
                shown.add(row_of(case))
                if (row := row_of_speed_up(case)) and not given.targets:
                    shown.add(row)
        except RuntimeError as problem:
            failed.append(str(problem))
    if not given.targets:
        layers = (1, 6) if given.quick else compile_time.LAYERS
        for case in compile_time.measure(about, given.filter, layers):
            cases.append(case)
            shown.add(row_of_compiling(case))

        print("\nThe largest errors against double, in epsilons of the largest element")
        errors = table(ERROR_COLUMNS)
        for case in cases:
            if "errors" in case:
                errors.add(row_of_errors(case))

    what = {"machine": machine(), "system": platform.platform(),
            "date": datetime.date.today().isoformat(), "compiler": about["compiler"],
            "peers": sorted({one["name"] for case in cases for one in case.get("contenders", [])
                             if not one["name"].startswith("weft")})}
    name = "bench-targets" if given.targets else "bench"
    place = pathlib.Path(about["results"])
    shown.write(place / f"{name}.tsv")
    (place / f"{name}.json").write_text(json.dumps({**what, "cases": cases}, indent=1) + "\n")
    if not given.targets:
        errors.write(place / "bench-errors.tsv")
        chart.draw(shown.rows, place / f"{name}.svg", f"{what['machine']}, {what['date']}")
    print(f"\n{what['machine']}; {what['compiler']}; {', '.join(what['peers']) or 'no peers'}\n"
          f"the same in {place}/{name}.*")
    for problem in failed:
        print(f"bench: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
