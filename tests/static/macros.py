"""Macros of other headers are not in weft's way: each header that users include has header_begin.hpp as
its first line and header_end.hpp as its last, whose lists are those of tests/consumers/headers. What
they include defines none, which would be lost. Prints and counts the lines that do not hold to that.

macros.py COMPILER OPTION..., with the options that preprocess C++ with weft's headers."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include/weft"
BEGIN, END = (f'#include "weft/header_{which}.hpp"\n' for which in ("begin", "end"))


def faults(command):
    off, back = ((HEADERS / f"macros_{which}.hpp").read_text() for which in ("off", "back"))
    names = re.findall(r"^#undef (\w+)$", off, re.M)
    tested = (ROOT / "tests/consumers/headers/macros.hpp").read_text()
    for text, directive in ((off, r'pragma push_macro\("(\w+)"\)'),
                            (back, r'pragma pop_macro\("(\w+)"\)'), (tested, r"define (\w+)")):
        differ = set(re.findall(rf"^#{directive}", text, re.M)) ^ set(names)
        for name in sorted(differ):
            yield f"#{directive}: {name} is there, or in macros_off.hpp, but not in both"

    public = [path for path in sorted(HEADERS.rglob("*.hpp"))
              if not path.name.startswith(("macros_", "header_"))]
    for path in public:
        text = path.read_text(encoding="utf-8")
        if "#pragma once\n" + BEGIN not in text or not text.endswith(END):
            yield (f"{path.relative_to(ROOT)}: needs {BEGIN.strip()} behind #pragma once, "
                   f"and {END.strip()} at the end")

    # All that is included, with #define and #undef where they stand: <cmath> undefines what math.h
    # defines. With WEFT_HEADER, header_begin.hpp does nothing.
    source = "".join(f'#include "{path}"\n' for path in public)
    read = subprocess.run([*command, "-std=c++20", "-DWEFT_HEADER", "-E", "-dD", "-xc++", "-"], input=source,
                          capture_output=True, text=True, check=True).stdout
    defined = {name: line for line, name in re.findall(r"^(#(?:define|undef) (\w+).*)", read, re.M)}
    for name in names:
        if defined.get(name, "").startswith("#define"):
            yield f"an included header has {defined[name]}"


def main():
    wrong = list(faults(sys.argv[1:]))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
