#!/bin/sh
# Makes the folder that toolchain.cmake compiles with: the commands c++, ar and ranlib, the headers of
# Highway, Boost and nlohmann-json without others of this system, and what ziglang leaves out of the
# C++ library for WebAssembly, from the sources that come with it: exceptions, and files.
#   prepare.sh FOLDER
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
to=$1
zig=$("$here/../ziglang.sh")
rm -rf "$to" && mkdir -p "$to/include" "$to/objects"
for folder in hwy boost nlohmann; do ln -s "/usr/include/$folder" "$to/include/$folder"; done

# ziglang's own definitions say that the target has no files.
cat >"$to/c++" <<END
#!/bin/sh
exec '$zig/zig' c++ -target wasm32-wasi -mcpu=generic+simd128+exception_handling -fwasm-exceptions \\
  -U_LIBCPP_HAS_FILESYSTEM -D_LIBCPP_HAS_FILESYSTEM=1 -D_WASI_EMULATED_MMAN -g0 -fno-sanitize=undefined "\$@"
END
for tool in ar ranlib; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig/zig" "$tool" >"$to/$tool"; done
chmod +x "$to/c++" "$to/ar" "$to/ranlib"

# compile SOURCE [OPTION...]
compile() {
  source=$1
  shift
  "$to/c++" -O2 -w -DNDEBUG -I"$zig/lib/libcxx/src" -I"$zig/lib/libcxxabi/include" -I"$zig/lib/libunwind/include" \
    "$@" -c "$source" -o "$to/objects/$(basename "$source").o"
}
cxx="-std=c++23 -D_LIBCPP_BUILDING_LIBRARY -D_LIBCXXABI_BUILDING_LIBRARY -D_LIBCXXABI_HAS_NO_THREADS"
# shellcheck disable=SC2086  # lists of words
for source in cxa_exception cxa_personality; do compile "$zig/lib/libcxxabi/src/$source.cpp" $cxx; done
compile "$zig/lib/libunwind/src/Unwind-wasm.c" -x c -D_LIBUNWIND_HAS_NO_THREADS -D_LIBUNWIND_HIDE_SYMBOLS
compile "$here/exception_tag.s" -x assembler
"$zig/zig" wasm-ld -r -o "$to/exceptions.o" "$to"/objects/*.o
rm "$to"/objects/*.o
# WASI's C library is musl without copy_file_range.
for source in filesystem/directory_entry filesystem/directory_iterator filesystem/filesystem_clock \
  filesystem/filesystem_error filesystem/operations filesystem/path fstream ios.instantiations; do
  # shellcheck disable=SC2086
  compile "$zig/lib/libcxx/src/$source.cpp" $cxx -U_LIBCPP_HAS_MUSL_LIBC -D_LIBCPP_HAS_MUSL_LIBC=0
done
"$to/ar" rcs "$to/libfiles.a" "$to"/objects/*.o
touch "$to/complete"
