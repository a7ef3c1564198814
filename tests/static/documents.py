"""Links between the documents lead somewhere, and the documents keep to their lengths. Prints the
lines that do not hold to that."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The most lines of a document; 0: any number.
DOCUMENTS = {
    "README.md": 200,
    "examples/README.md": 0,
    "examples/EMBEDDING.md": 0,
    "examples/OPERATIONS.md": 0,
    "examples/REALTIME.md": 0,
    "examples/LIMITS.md": 0,
    "examples/dates/README.md": 0,
    "examples/listen/README.md": 0,
    "examples/positions/README.md": 0,
    "examples/web/README.md": 0,
    "benchmarks/README.md": 0,
    "lib/kernels/README.md": 0,
    "include/weft/README.md": 150,
    ".github/CONTRIBUTING.md": 150,
}
COLUMNS = 120  # of text and code; a row of a table and a node of a dump are one line


def prose(text):
    """The lines outside of blocks of code."""
    code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield line


def anchors(text):
    """The anchors of a document's headings, as the web pages of repositories name them."""
    for line in prose(text):
        if line.startswith("#"):
            heading = line.lstrip("#").strip().lower()
            yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def faults(name, most):
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if most and len(lines) > most:
        yield f"{name}: {len(lines)} lines, more than {most}"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not line.lstrip().startswith(("|", "%")):
            yield f"{name}:{number}: {len(line)} columns, more than {COLUMNS}"
    # A link may be broken over two lines.
    whole = re.sub(r"`[^`]*`", "", "\n".join(prose(text)))  # without code
    for link in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", whole):
        if re.match(r"\w+:", link):
            yield f"{name}: the link {link} is not relative"
            continue
        file, _, anchor = link.partition("#")
        to = (path.parent / file).resolve() if file else path
        if not to.is_relative_to(ROOT) or not to.exists():
            yield f"{name}: the link {link} leads nowhere"
        elif anchor and anchor not in anchors(to.read_text(encoding="utf-8")):
            yield f"{name}: the link {link} leads to no heading"


def main():
    wrong = [fault for name, most in DOCUMENTS.items() for fault in faults(name, most)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
