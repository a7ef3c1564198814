#!/usr/bin/env python3
"""Calls a run from a function in which clang lets nothing block: nonblocking.cpp compiles with
-Wfunction-effects, and does not with each of its mistakes.

    nonblocking.py [INCLUDE]...     folders of headers, such as weft's and Highway's

It takes clang++ 20 or later, or that of PyPI's package ziglang; where neither is, it exits with 77.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("nonblocking.cpp")
MISTAKES = ("ALLOCATES", "LOCKS", "FREEZES")


def compilers():
    for name in ["clang++", *(f"clang++-{n}" for n in range(20, 30))]:
        if shutil.which(name):
            said = subprocess.run([name, "-dumpversion"], capture_output=True, text=True).stdout
            if int(re.match(r"\d+", said)[0]) >= 20:
                yield [name]
    yield [sys.executable, "-m", "ziglang", "c++"]


def compiled(command, *options):
    said = subprocess.run([*command, *options], capture_output=True, text=True)
    return said.returncode == 0, said.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.environ["ZIG_LOCAL_CACHE_DIR"] = os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(folder / "zig")
        # Of the system's headers Boost's and Highway's alone: clang has a C++ library of its own.
        for name in ("boost", "hwy"):
            found = next((pathlib.Path(i, name) for i in [*";".join(sys.argv[1:]).split(";"), "/usr/include"]
                          if pathlib.Path(i, name).is_dir()), None)
            if found:
                (folder / "include").mkdir(exist_ok=True)
                (folder / "include" / name).symlink_to(found.resolve())
        (folder / "empty.cpp").write_text("void f() noexcept [[clang::nonblocking]];\n")
        for command in compilers():
            if compiled(command, "-c", "-Werror", folder / "empty.cpp", "-o", folder / "empty.o")[0]:
                break
        else:
            print("skipped: there is no clang 20 or later, nor the package ziglang of PyPI")
            return 77
        root = SOURCE.parents[2]
        options = ["-std=c++20", "-Wall", "-Wextra", "-Wfunction-effects", "-Werror", "-c", SOURCE,
                   "-I", root / "include", "-I", root, "-isystem", folder / "include",
                   "-o", folder / "nonblocking.o"]
        right, said = compiled(command, *options)
        if not right:
            sys.exit("a run is not nonblocking:\n" + said)
        for mistake in MISTAKES:
            right, said = compiled(command, *options, "-D" + mistake)
            if right or "-Wfunction-effects" not in said:
                sys.exit(f"{mistake} is not seen:\n{said}")
        print(f"{' '.join(command)}: a run blocks nothing; {len(MISTAKES)} mistakes are seen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
