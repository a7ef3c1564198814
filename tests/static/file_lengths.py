"""A source file has one purpose and no more lines than one can survey, and so has a function of the
library. Prints and counts those that do not hold to that."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

FOLDERS = ("include", "lib", "tests", "benchmarks", "examples")
LINES = 450
OF_A_FUNCTION = 60  # in the library, with what is in front of its name
# What has no line's end and no brace that counts: comments, strings, macros.
BLANK = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|^\#(?:[^\n]*\\\n)*[^\n]*""", re.M)
SCOPE = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b[^()]*$")


def long_functions(text):
    """(line, lines) of the functions that are too long; those within others are parts of these."""
    text = BLANK.sub(lambda m: "\n" * m[0].count("\n"), text)
    begin, open_braces, functions = 0, [], 0
    for brace in re.finditer(r"[{};]", text):
        if brace[0] == "{":
            head = text[begin:brace.start()]
            is_scope = SCOPE.search(head) is not None
            in_list = bool(open_braces) and open_braces[-1][2]  # of initializers
            is_function = not is_scope and not in_list and ")" in head
            functions += is_function
            is_list = not is_scope and not is_function
            open_braces.append((brace.start() - len(head.lstrip()), is_function, is_list))
        elif brace[0] == "}" and open_braces:
            start, is_function, _ = open_braces.pop()
            functions -= is_function
            lines = text.count("\n", start, brace.end()) + 1
            if is_function and functions == 0 and lines > OF_A_FUNCTION:
                yield text.count("\n", 0, start) + 1, lines
        begin = brace.end()


def faults():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".hpp", ".h", ".cpp"):
                continue
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            lines = len(text.splitlines())
            if lines > LINES:
                yield f"{name}: {lines} lines, more than {LINES}"
            if folder in ("include", "lib"):
                for line, length in long_functions(text):
                    yield f"{name}:{line}: a function of {length} lines, more than {OF_A_FUNCTION}"


def main():
    wrong = list(faults())
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
