"""What is done for every position encoding has each that the library has. Prints and counts those
that are missing."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Where each encoding is listed, and those that need not be: they differ from another one in what
# the study does not show.
LISTS = {
    "tests/nn/encodings.hpp": (),
    "examples/positions/encodings.hpp": ("long_rotary", "shaw_keys"),
    "examples/positions/properties.cpp": ("long_rotary", "shaw_keys"),
    "examples/README.md": (),
}


def main():
    headers = sorted(ROOT.glob("include/weft/nn/position/*.hpp"))
    encodings = [name for header in headers for name in re.findall(
        r"^struct (\w+) : (?:encoding|detail::turning<.*>) \{", header.read_text(encoding="utf-8"), re.M)]
    for base in ("shared_encoding", "turning"):  # of others
        encodings.remove(base)
    wrong = []
    for file, others in LISTS.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in {*encodings} - {*others}:
            if not re.search(rf"(position::|`){name}\b", text):
                wrong.append(f"{file}: no {name}")
    print(*sorted(wrong), f"{len(encodings)} encodings", sep="\n")
    return 1 if wrong or len(encodings) < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
