// The language that all headers are written in: those that include no other one of weft include
// this.
#pragma once
#include "weft/header_begin.hpp"

#if __cplusplus < 202002L
#error "weft: the headers are C++20; compile with -std=c++20 or later"
#include "C++20"  // Compilers go on behind #error, but not without a file.
#endif
#include "weft/header_end.hpp"
