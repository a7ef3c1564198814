#!/bin/sh
# Compiles the library for a processor or system that this machine does not run, with the clang of
# PyPI's ziglang: macos; windows; and riscv64, without vectors, since a current clang no longer knows
# the names that Highway 1.0.3 has for them. Nothing is linked or run. Prints one line, and exits with a
# nonzero status if a file does not compile.
#   compile.sh macos|riscv64|windows
set -eu
target=${1:-}
case $target in
  macos) flags="-target aarch64-macos" ;;
  riscv64) flags="-target riscv64-linux-musl" ;;
  windows) flags="-target x86_64-windows-gnu" ;;
  *) sed -n '6s/^# *//p' "$0" >&2; exit 2 ;;
esac
cd -- "$(dirname -- "$0")/../.."
build=$PWD/build-zig
log=$build/$target.log
begin=$(date +%s)
zig=$(tests/targets/ziglang.sh)/zig
mkdir -p "$build/include"
# The system's other headers would hide the target's.
for folder in hwy boost; do ln -sfn "/usr/include/$folder" "$build/include/$folder"; done

# compile FILE: as lib/CMakeLists.txt does, without SVE.
compile() {
  # shellcheck disable=SC2086  # a list of words
  "$zig" c++ $flags -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror \
    "-DHWY_DISABLED_TARGETS=HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128" \
    -fconstexpr-steps=2000000000 -Iinclude -Ilib -isystem "$build/include" \
    -c "$1" -o "$build/$target.o"
}
files=0 wrong=
: >"$log"
for file in lib/kernels/*.cpp lib/run/*.cpp; do
  [ "$file" != lib/run/threads.cpp ] || continue  # oneTBB's
  compile "$file" >>"$log" 2>&1 || wrong="$wrong $file"
  files=$((files + 1))
done
echo "$target: $files files${wrong:+, these do not compile:$wrong}, $(($(date +%s) - begin)) s"
[ -z "$wrong" ] || { grep -E 'error:' "$log" | head -20 >&2; exit 1; }
