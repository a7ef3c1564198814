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

// The containers of libstdc++ have other members with -D_GLIBCXX_DEBUG: a program that is compiled
// with it links only with libraries of weft that are, too. Without this it would link, and crash.
#ifdef _GLIBCXX_DEBUG
namespace weft::detail {
extern const bool library_is_compiled_with_GLIBCXX_DEBUG;
[[gnu::used]] inline const bool* const containers_of_library =
    &library_is_compiled_with_GLIBCXX_DEBUG;
}  // namespace weft::detail
#endif
#include "weft/header_end.hpp"
