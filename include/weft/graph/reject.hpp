// Diagnostics for invalid uses: an overload that only the invalid use selects, so that the error is
// reported at the user's line, states the operation, its axes and the rule in one line, and a
// requires-expression detects that the use is invalid.
#pragma once
// g++ omits the note on macro expansion for a system header's macros.
#pragma GCC system_header

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "weft/axes/fixed_string.hpp"

// Compilers differ in what they print for a function that must not be called: g++ prints the type
// of a deleted function, clang the message of an attribute, and the operands' types in a note. Both
// then treat the call as an expression without a type and are silent about its uses, but g++ also
// reports that a constexpr function whose result has no type is invalid. A template cannot carry an
// attribute's string, hence a macro. For clang, weft::rejected is in tensor.hpp.
//
// An invalid call of a member function has the type of the valid one, so that uses of its result
// compile. It is declared by WEFT_REJECT_CALL("message", (types to print), (template parameters),
// (condition), declaration) with a body, as a private member, because g++ knows the type of a call
// of a private function but not of a deleted one. For clang it is public: the condition of its
// attribute depends on the object, so that clang knows the type, too.
#define WEFT_BARE(...) __VA_ARGS__
#if defined(__clang__)
// -Wpedantic warns about the attribute.
#define WEFT_QUIET_BEGIN \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")
#define WEFT_QUIET_END _Pragma("clang diagnostic pop")
#define WEFT_REJECT(sentence, ...)                                       \
  WEFT_QUIET_BEGIN __attribute__((diagnose_if(true, sentence, "error"))) \
  WEFT_QUIET_END constexpr ::weft::rejected __VA_ARGS__ {                \
    return {};                                                           \
  }
#define WEFT_REJECT_CALL(sentence, about, parameters, condition, ...)                              \
 public:                                                                                           \
  template <WEFT_BARE parameters, class Because = ::weft::because<WEFT_BARE about>>                \
  requires condition WEFT_QUIET_BEGIN                                                              \
      __attribute__((diagnose_if(sizeof(this) > 0, sentence, "error"))) WEFT_QUIET_END __VA_ARGS__ \
                                                                                                   \
      private:
#else
namespace weft {
template <fixed_string Sentence>
struct rejected {};
}  // namespace weft
#define WEFT_REJECT(sentence, ...) constexpr ::weft::rejected<sentence> __VA_ARGS__ = delete;
#define WEFT_REJECT_CALL(sentence, about, parameters, condition, ...)                    \
  template <WEFT_BARE parameters,                                                        \
            class Because = ::weft::because<::weft::spelled<sentence>, WEFT_BARE about>> \
  requires condition __VA_ARGS__
#endif

namespace weft {

// The type that compilers print for an invalid call of a member function.
template <class... About>
struct because {};

// A name, or a message, in a printed type. Before version 19, clang prints the characters of a
// fixed_string as numbers.
#if defined(__clang__) && __clang_major__ < 19
template <char... Characters>
struct spelled {};
namespace detail {
template <fixed_string Name, std::size_t... I>
spelled<Name.chars[I]...> spell(std::index_sequence<I...>);
template <fixed_string Name>
using spelled_t = decltype(spell<Name>(std::make_index_sequence<Name.view().size()>()));
}  // namespace detail
#else
template <fixed_string Name>
struct spelled {};
namespace detail {
template <fixed_string Name>
using spelled_t = spelled<Name>;
}  // namespace detail
#endif

namespace detail {

// A string that is built at compile time; cut off after 256 characters.
struct message {
  char characters[256]{};
  std::size_t size = 0;

  constexpr message& operator<<(std::string_view s) {
    for (char const c : s)
      if (size < sizeof characters) characters[size++] = c;
    return *this;
  }
};
// The message that Maker::make() builds.
template <class Maker>
constexpr auto text_of() {
  constexpr message m = Maker::make();
  fixed_string<m.size + 1> t;
  std::copy_n(m.characters, m.size, t.chars);
  return t;
}

}  // namespace detail

}  // namespace weft
