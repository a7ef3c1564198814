// What a function does that is only called to stop constant evaluation.
#pragma once
#include "weft/header_begin.hpp"

#ifdef __cpp_exceptions
#include <stdexcept>
#else
#include <cstdio>
#include <cstdlib>
#endif

#include "weft/language.hpp"

// At run time, fault throws std::logic_error, or writes the text to stderr and aborts. A program
// may have files of both kinds, so that they have other names.
namespace weft::detail {

#ifdef __cpp_exceptions
inline namespace with_exceptions {
[[noreturn]] inline void fault(const char* what) {
  throw std::logic_error(what);
}
}  // namespace with_exceptions
#else
inline namespace without_exceptions {
[[noreturn]] inline void fault(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}
}  // namespace without_exceptions
#endif

}  // namespace weft::detail
#include "weft/header_end.hpp"
