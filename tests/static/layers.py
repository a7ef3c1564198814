"""Includes go one way: each folder includes itself and what is listed for it. Prints and counts the
lines that do not hold to that."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a folder of include/weft may include, beside itself. Code generation uses the engine's memory
# and runs what it cannot generate on it.
LAYERS = {
    "axes": (),
    "weights": ("axes",),
    "graph": ("axes",),
    "ops": ("axes", "graph"),
    "nn": ("axes", "graph", "ops"),
    "passes": ("axes", "graph"),
    "kernels": ("weights",),
    "lower": ("axes", "graph", "kernels", "passes", "weights"),
    "run": ("axes", "graph", "kernels", "lower", "passes", "weights"),
    "generate": ("axes", "graph", "kernels", "lower", "passes", "run", "weights"),
    "inspect": ("axes", "graph", "kernels", "lower", "passes", "run", "weights"),
    "files": ("axes", "graph", "kernels", "lower", "passes", "run", "weights"),
    "pictures": ("run",),
    "io": ("files",),
    "mpi": ("axes", "files", "graph", "kernels", "lower", "passes", "run", "weights"),
}
# Kernels know of the graph only the operations, and what their table says.
OPERATIONS = ("graph/attention_slots.hpp", "graph/op.hpp", "graph/op_table.hpp", "graph/random.hpp")
INCLUDE = re.compile(r'#include ["<](?:weft/)?([^">]+)[">]')


def read_by(path, found):
    """Adds the files that one includes, and those that these include."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for folder in ("include/weft", "lib", "tests"):
            file = ROOT / folder / name
            if file.is_file() and file not in found:
                found[file] = path
                read_by(file, found)


def entries_seen_by_kernels():
    """How operations are differentiated, simplified and lowered is no kernel's business: a change of
    that compiles none of them, and none of their tests."""
    found = {}
    for path in sorted([*ROOT.glob("lib/kernels/*.cpp"), *ROOT.glob("tests/kernels/*.cpp"),
                        *ROOT.glob("include/weft/kernels/*")]):
        if path.is_file():
            read_by(path, found)
    for entries in sorted(ROOT.glob("include/weft/graph/ops*.hpp")):
        if entries in found:
            yield f"kernels read {entries.name} by way of {found[entries].relative_to(ROOT)}"


def faults():
    yield from entries_seen_by_kernels()
    for path in sorted(ROOT.glob("include/weft/graph/*")):
        if "kernel::" in path.read_text(encoding="utf-8"):
            yield f"{path.relative_to(ROOT)}: the graph names a kernel"
    for path in sorted([*ROOT.glob("include/weft/*/**/*"), *ROOT.glob("lib/kernels/*"),
                        *ROOT.glob("lib/weights/*")]):
        if path.suffix not in (".hpp", ".h", ".cpp"):
            continue
        parts = path.relative_to(ROOT).parts
        layer = parts[2] if parts[0] == "include" else parts[1]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'#include "(?:weft/)?((\w+)/[^"]+)"', line)
            if not found or found[2] == layer or (layer == "kernels" and found[1] in OPERATIONS):
                continue
            if found[2] in LAYERS and found[2] not in LAYERS.get(layer, ()):
                yield f"{path.relative_to(ROOT)}:{number}: {layer} includes {found[1]}"


def main():
    if LAYERS.keys() != {p.name for p in ROOT.glob("include/weft/*") if p.is_dir()}:
        print("layers: the folders of include/weft are not those that have a layer")
        return 1
    wrong = list(faults())
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
