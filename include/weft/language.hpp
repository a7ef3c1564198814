// The language that all headers are written in: those that include no other one of weft include
// this.
#pragma once
#include "weft/header_begin.hpp"

#if __cplusplus < 202002L
#error "weft: the headers are C++20; compile with -std=c++20 or later"
#include "C++20"  // Compilers go on behind #error, but not without a file.
#endif

// After noexcept: the function neither waits, nor allocates, nor enters the kernel, which clang
// from 20 on checks by -Wfunction-effects where it is called, and by -fsanitize=realtime while it
// runs. Of a function that throws where an argument is wrong, this holds until then.
#if defined(__clang__) && __clang_major__ >= 20
#define WEFT_NONBLOCKING [[clang::nonblocking]]
#else
#define WEFT_NONBLOCKING
#endif
#include "weft/header_end.hpp"
