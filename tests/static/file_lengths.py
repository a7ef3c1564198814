"""A source file has one purpose and no more lines than one can survey. Prints and counts the files
that do not hold to that."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

FOLDERS = ("include", "lib", "tests", "benchmarks", "examples")
LINES = 450
# Files that are longer, and the most lines that they may have: these numbers only decrease.
LONGER = {
    "lib/kernels/attention_adjoint.cpp": 619,
    "lib/kernels/dot.cpp": 613,
    "lib/kernels/row_driver.hpp": 494,
    "lib/kernels/rowwise.cpp": 592,
    "tests/reference/reference_test.cpp": 607,
}


def faults():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".hpp", ".h", ".cpp"):
                continue
            name = path.relative_to(ROOT).as_posix()
            lines = len(path.read_text(encoding="utf-8").splitlines())
            most = LONGER.get(name, LINES)
            if lines > most:
                yield f"{name}: {lines} lines, more than {most}"
            elif lines <= LINES < most:
                yield f"{name}: {lines} lines, which needs no exception"


def main():
    gone = [name for name in LONGER if not (ROOT / name).exists()]
    wrong = [*faults(), *(f"{name}: there is no such file" for name in gone)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
