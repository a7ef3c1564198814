// How a wrong use is refused: an overload that is chosen for the wrong use alone,
// so that the error stands at the user's line, says the operation, its axes and the rule in one
// line, and a requires-expression sees that the use is wrong.
#pragma once
// g++ leaves out the note on the macro where that is a system header's.
#pragma GCC system_header

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "weft/axes/fixed_string.hpp"

// The compilers differ in what they print of a function that must not be called: g++ prints the
// type of a deleted one, clang a sentence that is an attribute's, and the operands' types in the
// note. Both then take the call for an expression without a type, and are silent about what is done
// with it; but g++ says once more that a constexpr function whose result has no type is invalid. A
// template cannot carry an attribute's string, hence a macro. weft::rejected is in tensor.hpp for
// clang.
//
// A wrong call of a member function has the type of the right one, so that what is done with the
// result compiles. It is declared by WEFT_REJECT_CALL("sentence", (types that say more), (template
// parameters), (condition), declaration) with a body, as a private member, because g++ knows the
// type of a call of a private function and not that of a deleted one. For clang it is public: the
// condition of its attribute depends on the object, so that clang knows the type, too.
#define WEFT_BARE(...) __VA_ARGS__
#if defined(__clang__)
// -Wpedantic warns of the attribute.
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

// What compilers print of a wrong call of a member function.
template <class... About>
struct because {};

// A name, or a sentence, in what they print. Clang prints the characters of a text as numbers
// before version 19.
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

// A text that is put together while compiling.
struct message {
  char characters[256]{};
  std::size_t size = 0;

  constexpr message& operator<<(std::string_view s) {
    for (char const c : s)
      if (size < sizeof characters) characters[size++] = c;
    return *this;
  }
};
// What Maker::make() puts together.
template <class Maker>
constexpr auto text_of() {
  constexpr message m = Maker::make();
  fixed_string<m.size + 1> t;
  std::copy_n(m.characters, m.size, t.chars);
  return t;
}

}  // namespace detail

}  // namespace weft
