#include "weft/run/error.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace weft {

#ifdef _GLIBCXX_DEBUG
const bool detail::library_is_compiled_with_GLIBCXX_DEBUG = true;
#endif

namespace {

std::atomic<error_handler> handler = nullptr;
thread_local int attempts = 0;  // calls of `caught` around what runs

// Returns where the error is to be thrown.
void handle(const char* what) {
  const error_handler set = attempts == 0 ? handler.load() : nullptr;
  if (set != nullptr) set(what);
#ifdef __cpp_exceptions
  if (set == nullptr) return;
#else
  if (set == nullptr) std::fprintf(stderr, "%s\n", what);
#endif
  std::abort();
}

template <class Error, class... Args>
[[noreturn]] void raise_as(const char* what, const Args&... args) {
  handle(what);
#ifdef __cpp_exceptions
  throw Error(args...);
#else
  ((void)args, ...);
  std::abort();
#endif
}

}  // namespace

error_handler set_error_handler(error_handler to) noexcept {
  return handler.exchange(to);
}

void detail::raise(const std::string& what) {
  raise_as<error>(what.c_str(), what);
}
void detail::raise_bad_alloc() {
  raise_as<std::bad_alloc>("weft: not enough memory");
}

bool detail::caught(void (*f)(void*), void* with, [[maybe_unused]] std::string& why) {
#ifdef __cpp_exceptions
  struct counted {
    counted() { ++attempts; }
    ~counted() { --attempts; }
  } const one;
  try {
    f(with);
  } catch (const std::exception& e) {
    why = e.what();
    return true;
  }
#else
  f(with);
#endif
  return false;
}

}  // namespace weft
