"""In an older C++, what a program includes of weft is one sentence: usage language.py COMPILER [OPTION]...
Headers that include no other one of weft include weft/language.hpp, so that it is read first."""
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[3] / "include"
HEADERS = ("weft.hpp", "graph/scope.hpp", "nn/transformer.hpp", "nn/position.hpp", "files/load.hpp",
           "pictures/page.hpp", "files/gguf.hpp", "run/view.hpp")
SENTENCE = "weft: the headers are C++20; compile with -std=c++20 or later"
LINES = 8
# What is C++ of any version.
AROUND = {"language", "header_begin", "header_end", "macros_off", "macros_back"}


def main(*command):
    wrong = [f"{path}: it does not include weft/language.hpp"
             for path in INCLUDE.rglob("*.hpp") if path.stem not in AROUND
             and not set(re.findall(r'#include "weft/(\S+)[.]hpp"', path.read_text(encoding="utf-8")))
             - (AROUND - {"language"})]
    for header in HEADERS:
        result = subprocess.run([*command, "-x", "c++", "-"], input=f"#include <weft/{header}>\n",
                                env={**os.environ, "LC_ALL": "C"}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        errors = re.findall(r"error: (.*)", result.stdout)
        lines = result.stdout.splitlines()
        if len(errors) != 2 or SENTENCE not in errors[0] or len(lines) > LINES:
            wrong.append(f"{header}: {len(lines)} lines\n{result.stdout}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
