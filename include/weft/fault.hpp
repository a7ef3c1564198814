// What a function does that is only called to stop constant evaluation.
#pragma once
#include "weft/header_begin.hpp"

#ifdef __cpp_exceptions
#include <exception>
#else
#include <cstdio>
#include <cstdlib>
#endif

#include "weft/language.hpp"

// At run time, fault throws a std::exception with the text, which has to stay, or writes it to
// stderr and aborts. A program may have files of both kinds, so that they have other names.
// <stdexcept> would bring all of std::string to headers of models.
namespace weft::detail {

#ifdef __cpp_exceptions
inline namespace with_exceptions {
struct faulted : std::exception {
  explicit faulted(const char* what) noexcept : text(what) {}
  const char* what() const noexcept override { return text; }

  const char* text;
};
[[noreturn]] inline void fault(const char* what) {
  throw faulted(what);
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
