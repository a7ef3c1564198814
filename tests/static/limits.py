"""The table of limits in examples/LIMITS.md has the constants of the headers with their values, and
the sentences of the headers have these numbers. Prints what differs."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include/weft"
HEADERS = ("axes/axis.hpp", "graph/graph.hpp", "graph/op.hpp", "lower/program.hpp")
# Follow from others, or from what the language has.
NO_LIMITS = {"max_nodes", "max_outputs"}
ROW = re.compile(r"\| (.*?) \| (\d+) \| `(max_\w+)` \| .+ \|")


def value_of(text):
    """That of a number, or of one shifted to the left."""
    parts = [int(part) for part in re.findall(r"\b\d+\b", text)]
    return parts[0] << parts[1] if "<<" in text else parts[0]


def read(name):
    return (INCLUDE / name).read_text(encoding="utf-8")


def main():
    found = {name: value_of(value) for header in HEADERS for name, value in re.findall(
        r"inline constexpr (?:int|std::size_t|std::uint64_t) (max_\w+) = ([^;]*\d[^;]*);", read(header))
        if name not in NO_LIMITS}
    document = (ROOT / "examples/LIMITS.md").read_text(encoding="utf-8")
    rows = [ROW.fullmatch(line) for line in document.splitlines()]
    table = {row[3]: int(row[2]) for row in rows if row}
    wrong = [f"LIMITS.md: {name} is {table.get(name)}, in the headers {found.get(name)}"
             for name in sorted({*found, *table}) if found.get(name) != table.get(name)]
    faults = read("graph/model_fault.hpp")
    sentences = re.findall(r'"((?:model|trainer|scope): [^"]*?\b\d+ [^"]*)"', faults)
    for sentence in [*sentences, *re.findall(r'"(axis: more than \d+ [^"]*)"', read("axes/axis.hpp"))]:
        if int(re.search(r"\d+", sentence)[0]) not in table.values():
            wrong.append(f"no limit of the table is that of: {sentence}")
    said = faults + read("axes/axis.hpp")
    wrong += [f"no sentence has the limit {value}" for value in sorted(set(table.values()))
              if not re.search(rf'"[^"]*\b{value} ', said)]
    steps = re.search(r"\| (\d+) \| `-fconstexpr-ops-limit`", document)
    if not steps or (ROOT / "lib/weft-flags.cmake").read_text().count(f"={steps[1]}>") != 2:
        wrong.append("LIMITS.md: the steps of a compiler are not those of lib/weft-flags.cmake")
    print(*wrong, f"{len(table)} limits", sep="\n")
    return 1 if wrong or len(table) < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
