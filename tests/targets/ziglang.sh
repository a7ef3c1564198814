#!/bin/sh
# Unpacks PyPI's ziglang, a current clang with the C and C++ libraries of many targets, to build-zig,
# unless it is there. Prints the folder of the compiler `zig c++` and its libraries' sources.
set -eu
cd -- "$(dirname -- "$0")/../.."
build=$PWD/build-zig
if [ ! -x "$build/ziglang/zig" ]; then
  mkdir -p "$build"
  python3 -m pip download --quiet --no-deps --dest "$build" ziglang==0.17.1 >&2
  python3 -m zipfile -e "$build"/ziglang-*.whl "$build" >&2
  chmod +x "$build/ziglang/zig"
fi
echo "$build/ziglang"
