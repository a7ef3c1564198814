// Errors: the exception that the library throws, and what there is instead of it.
#pragma once
#include "weft/header_begin.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/language.hpp"

namespace weft {

// Thrown where a run, a file or an argument does not fit the model. what() says what was expected,
// what was found, and where.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value, or the error that is in its place: as C++23's std::expected<T, weft::error>.
template <class T>
class expected {
 public:
  // From a value.
  expected(T value) : is_(std::move(value)) {}
  // From an error.
  expected(weft::error e) : is_(std::move(e)) {}

  // Whether the value is there.
  bool has_value() const noexcept { return is_.index() == 0; }
  // The same.
  explicit operator bool() const noexcept { return has_value(); }
  // The value, which has to be there.
  T& operator*() & noexcept { return *std::get_if<0>(&is_); }
  // The same.
  const T& operator*() const& noexcept { return *std::get_if<0>(&is_); }
  // The same, of a temporary.
  T&& operator*() && noexcept { return std::move(**this); }
  // A member of the value.
  T* operator->() noexcept { return std::get_if<0>(&is_); }
  // The same.
  const T* operator->() const noexcept { return std::get_if<0>(&is_); }
  // The error, which has to be there.
  const weft::error& error() const noexcept { return *std::get_if<1>(&is_); }

 private:
  std::variant<T, weft::error> is_;
};

namespace detail {

// Throws weft::error, or calls the handler of set_error_handler.
[[noreturn]] void raise(const std::string& what);
[[noreturn]] void raise_bad_alloc();

// Calls f(with). Returns whether it has thrown a std::exception, and its text; others pass.
bool caught(void (*f)(void*), void* with, std::string& why);
template <class F>
bool caught(F& f, std::string& why) {
  return caught([](void* with) { (*static_cast<F*>(with))(); }, std::addressof(f), why);
}

}  // namespace detail

// What f() returns, or the error that it throws: a std::exception of any type, with its text. Every
// function that throws has this form, and module::try_run and weft::try_load are two of them by
// name:
//
//   auto net = weft::attempt([&] { return weft::module<encoder>(weft::tensor_file(path)); });
//   if (!net) return report(net.error().what());
//   net->freeze();
//
// Of an f that returns nothing, the value is a std::monostate. What catches is in the library, so
// that files compiled with -fno-exceptions can call this; there, objects of f itself are not
// destroyed after an error.
template <class F>
auto attempt(F f) {
  using returned = std::invoke_result_t<F&>;
  using value =
      std::conditional_t<std::is_void_v<returned>, std::monostate, std::decay_t<returned>>;
  std::optional<value> got;
  auto call = [&] {
    if constexpr (std::is_void_v<returned>) {
      f();
      got.emplace();
    } else {
      got.emplace(f());
    }
  };
  if (std::string why; detail::caught(call, why)) return expected<value>(weft::error(why));
  return expected<value>(*std::move(got));
}

// A function for the text of an error: see set_error_handler.
using error_handler = void (*)(const char* what);

// Sets what is called with the text of an error, instead of throwing it, outside of
// weft::attempt: for programs without exceptions. It must not return: where it does, the program
// aborts. Null, at first: weft::error is thrown, and where the library was compiled with
// -fno-exceptions, the text is written to stderr and the program aborts. Returns the handler that
// was set before. For all threads.
error_handler set_error_handler(error_handler handler) noexcept;

}  // namespace weft
#include "weft/header_end.hpp"
