# The tag by which WebAssembly knows C++'s exceptions. Its value is their address.
  .tagtype __cpp_exception i32
  .globl __cpp_exception
__cpp_exception:
