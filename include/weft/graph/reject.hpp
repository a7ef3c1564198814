// Diagnostics for invalid uses: an overload that only the invalid use selects, so that the error is
// reported at the user's line, states the operation, its axes and the rule in one line, and a
// requires-expression detects that the use is invalid.
#pragma once
#include "weft/header_begin.hpp"
// g++ omits the note on macro expansion for a system header's macros.
#pragma GCC system_header

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/axes/fixed_string.hpp"

namespace weft {

// The rules that a use can break, each in a word; WEFT_REJECT gives it the operation's sentence.
enum class rule {
  none,
  // Axes that a use names, or does not.
  no_axes,      // it names none, or too few
  not_an_axis,  // a type that is none
  list,         // axes in lists, as many as it has to be
  missing,      // an operand lacks the axis
  left,         // the left operand lacks it
  right,        // the right operand lacks it
  twice,        // an axis is named twice
  rank,         // more than 8 axes in all
  taken,        // a new axis is there already
  // Roles that a struct of axes does not name, or that a layer does not have.
  no_positions,
  no_keys,
  no_memory,
  no_cache,
  no_embed,
  no_heads,
  no_head_dim,
  no_hidden,
  unused,
  // How axes fit.
  other_axes,  // those that are not named differ
  extent,      // extents, bounds or lengths do not fit
  bounded,     // a length known at run time only
  inner,       // of the inner axes of a split or a merge
  pairs,       // an odd extent
  surplus,     // axes that the other operand lacks
  nested,      // indices along the axis that they index
  taps,
  steps,
  // Operands.
  elements,  // of another type
  booleans,  // where they are not allowed
  integers,  // likewise
  narrow,    // bfloat16, likewise
  indices,   // not int32
  no_input,  // they depend on no input and no parameter
  count,     // as many as it has to be
  condition,
  choices,
  initial,
  states,
  body,  // of a scan
  number,
  buffer,
  rows,
  cache,
  batch,
  positions,
  position_axes,
  count_axes,
  arguments,  // not in their order
  query,
  key,
  value,
  keys,
  mask_keys,
  mask_order,
  memory,
  logits,
  targets,
  encoding,
  gain,
  // Models.
  tensor,   // what is to be one is none
  unnamed,  // in an unnamed namespace, or without a name
  result,   // it has none of this name
  unknown   // an input that it does not need
};

}  // namespace weft

// WEFT_RULE(found, (rule, "sentence")) for each of up to 11 pairs, and nothing for empty arguments.
// Not recursive, as clang prints a line for each macro within a macro.
#define WEFT_FIRST(a, b) a
#define WEFT_SECOND(a, b) b
#define WEFT_RULES(f, a, b, c, d, e, g, h, i, j, k, l, ...) \
  WEFT_RULE(f, a)                                           \
  WEFT_RULE(f, b)                                           \
  WEFT_RULE(f, c)                                           \
  WEFT_RULE(f, d)                                           \
  WEFT_RULE(f, e)                                           \
  WEFT_RULE(f, g) WEFT_RULE(f, h) WEFT_RULE(f, i) WEFT_RULE(f, j) WEFT_RULE(f, k) WEFT_RULE(f, l)
#define WEFT_BARE(...) __VA_ARGS__

// Rules that many functions share; `name` is the function's, in quotes.
#define WEFT_NOT_FLOAT(name) \
  (elements, name ": the elements are not float; convert with weft::cast<float>")
#define WEFT_NO_SUCH_AXIS(name) (missing, name ": the operand has no such axis")
#define WEFT_TOO_MANY_AXES(name) (rank, name ": the operands have more than 8 axes between them")
#define WEFT_NEW_IS_NO_AXIS(name) (not_an_axis, name ": what is to be new is not an axis")
#define WEFT_NO_AXIS(name) \
  (not_an_axis, name ": what stands for an axis is none; derive from weft::axis or weft::alias")
#define WEFT_NO_DTYPE(name) \
  (elements,                \
   name ": elements are float, std::int32_t, bool or weft::bfloat16, named before the axes")
#define WEFT_RANK_OF_ONE(name) (rank, name ": a tensor has at most 8 axes")
#define WEFT_UNNAMED_MODEL(name)                                         \
  (unnamed, name                                                         \
   ": the model is in an unnamed namespace, and so in this file alone; " \
   "weft_add_model needs it in a header and under a name")
#define WEFT_AXIS_TWICE(name)                                               \
  (twice, name                                                              \
   ": an axis is named twice; give the second role a name of its own with " \
   "weft::alias")

// WEFT_REJECT((found), declaration, (rule, "sentence"), ...) declares the overload that invalid
// uses select, where found is the weft::rule that a use breaks; the requires-clause in front of it
// says that there is one.
//
// WEFT_REJECT_IF((template parameters), (found), declaration, (rule, "sentence"), ...) declares it
// with its template and its requires-clause.
//
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
//
// WEFT_REJECT_CALLS((found), (types to print), (template parameters), (declaration), (rule,
// "sentence"), ...) declares one for up to 7 rules; the requires-clause follows from found.
//
// WEFT_REJECT_MEMBER("message", declaration, template parameters) declares a conversion; g++ prints
// the template arguments of a private function.
//
// WEFT_REJECT_COPIES("message", class) is for a class that is only moved.
#define WEFT_REJECT_IF(parameters, found, ...) \
  template <WEFT_BARE parameters>              \
  requires(found != ::weft::rule::none) WEFT_REJECT(found, __VA_ARGS__)
// The rules of functions that run along axes K; see ops/reduce.hpp.
#define WEFT_ALONG_RULES(name) \
  WEFT_NO_SUCH_AXIS(name), (twice, name ": an axis is named twice"), WEFT_NOT_FLOAT(name)
// The overload for invalid uses of one of x, of elements T, and maybe of numbers.
#define WEFT_REJECT_ALONG(function, T, ...)                                              \
  WEFT_REJECT_IF(                                                                        \
      (class... K, expression X), (::weft::detail::rule_along<T, X, K...>()),            \
      function(const X& __VA_OPT__(, ) __VA_ARGS__),                                     \
      (no_axes, #function ": name the axes it runs along, as in " #function "<Pos>(x)"), \
      WEFT_ALONG_RULES(#function), (condition, #function ": the operand is no mask of booleans"))
// A function of a float x, and maybe of numbers, and its overload for other elements.
#define WEFT_FLOAT_FUNCTION(function, value, ...)                                          \
  template <expression X>                                                                  \
  constexpr auto function(const X& x __VA_OPT__(, ) __VA_ARGS__) {                         \
    return value;                                                                          \
  }                                                                                        \
  template <expression X>                                                                  \
  requires(!detail::floating<X>)                                                           \
      WEFT_REJECT((::weft::rule::elements), function(const X& __VA_OPT__(, ) __VA_ARGS__), \
                  WEFT_NOT_FLOAT(#function))
#if defined(__clang__)
// -Wpedantic warns about the attribute.
#define WEFT_QUIET_BEGIN \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")
#define WEFT_QUIET_END _Pragma("clang diagnostic pop")
// Clang evaluates the condition before it looks at the constraints of the template: where that has
// no meaning, the rule is not broken.
#define WEFT_RULE(found, ...)                                                                     \
  __VA_OPT__(__attribute__((diagnose_if(                                                          \
      requires { typename ::std::enable_if_t<(found) == ::weft::rule::WEFT_FIRST __VA_ARGS__>; }, \
      WEFT_SECOND __VA_ARGS__, "error"))))
#define WEFT_REJECT(found, declaration, ...)                            \
  WEFT_QUIET_BEGIN WEFT_RULES(found, __VA_ARGS__, , , , , , , , , , , ) \
      WEFT_QUIET_END constexpr ::weft::rejected declaration {           \
    return {};                                                          \
  }
#define WEFT_REJECT_CALL(sentence, about, parameters, condition, ...)                              \
 public:                                                                                           \
  template <WEFT_BARE parameters, class Because = ::weft::because<WEFT_BARE about>>                \
  requires condition WEFT_QUIET_BEGIN                                                              \
      __attribute__((diagnose_if(sizeof(this) > 0, sentence, "error"))) WEFT_QUIET_END __VA_ARGS__ \
                                                                                                   \
      private:
#define WEFT_REJECT_CALLS(found, about, parameters, declaration, ...)                     \
 public:                                                                                  \
  template <WEFT_BARE parameters, ::weft::rule Found = found,                             \
            class Because = ::weft::because<WEFT_BARE about>>                             \
  requires(Found != ::weft::rule::none) WEFT_QUIET_BEGIN WEFT_RULES(                      \
      (sizeof(this) > 0 ? Found : ::weft::rule::none), __VA_ARGS__, , , , , , , , , , , ) \
  WEFT_QUIET_END WEFT_BARE declaration                                                    \
                                                                                          \
      private:
#define WEFT_REJECT_MEMBER(sentence, declaration, ...)           \
  template <__VA_ARGS__>                                         \
  __attribute__((unavailable(sentence))) constexpr declaration { \
    return {};                                                   \
  }
#define WEFT_REJECT_COPIES(sentence, type)                  \
  type(type&&) = default;                                   \
  type& operator=(type&&) = default;                        \
  __attribute__((unavailable(sentence))) type(const type&); \
  __attribute__((unavailable(sentence))) type& operator=(const type&);
#else
namespace weft {
template <fixed_string Sentence>
struct rejected {};
namespace detail {
template <auto Why>
struct refusal {
  using type = decltype(Why());
};
template <auto Why>
using refusal_t = typename refusal<Why>::type;
// The type that has the sentence of a rule, of several. g++ 12 takes no lambda in a class template.
template <rule, fixed_string>
struct ruled {};
template <class... Ruled>
struct rules : Ruled... {};
template <rule Found, fixed_string Sentence>
rejected<Sentence> sentence_of(ruled<Found, Sentence>);
}  // namespace detail
}  // namespace weft
#define WEFT_RULE(found, ...)                       \
  __VA_OPT__(if constexpr ((found) ==               \
                           ::weft::rule::WEFT_FIRST \
                               __VA_ARGS__) return ::weft::rejected<WEFT_SECOND __VA_ARGS__>{};)
#define WEFT_REJECT(found, declaration, ...)                                                       \
  constexpr ::weft::detail::refusal_t<[] { WEFT_RULES(found, __VA_ARGS__, , , , , , , , , , , ) }> \
      declaration = delete;
#define WEFT_REJECT_CALL(sentence, about, parameters, condition, ...)                    \
  template <WEFT_BARE parameters,                                                        \
            class Because = ::weft::because<::weft::spelled<sentence>, WEFT_BARE about>> \
  requires condition __VA_ARGS__
#define WEFT_CALL_RULE(...) \
  __VA_OPT__(, ::weft::detail::ruled<::weft::rule::WEFT_FIRST __VA_ARGS__, WEFT_SECOND __VA_ARGS__>)
#define WEFT_CALL_RULES(a, b, c, d, e, f, g, ...) \
  WEFT_CALL_RULE(a)                               \
  WEFT_CALL_RULE(b)                               \
  WEFT_CALL_RULE(c) WEFT_CALL_RULE(d) WEFT_CALL_RULE(e) WEFT_CALL_RULE(f) WEFT_CALL_RULE(g)
#define WEFT_REJECT_CALLS(found, about, parameters, declaration, ...)                          \
  template <WEFT_BARE parameters, ::weft::rule Found = found,                                  \
            class Because = ::weft::because<                                                   \
                decltype(::weft::detail::sentence_of<Found>(                                   \
                    ::weft::detail::rules<::weft::detail::ruled<::weft::rule::none, "">        \
                                              WEFT_CALL_RULES(__VA_ARGS__, , , , , , , )>())), \
                WEFT_BARE about>>                                                              \
  requires(Found != ::weft::rule::none) WEFT_BARE declaration
#define WEFT_REJECT_MEMBER(sentence, declaration, ...) \
 private:                                              \
  template <__VA_ARGS__, fixed_string = sentence>      \
  constexpr declaration {                              \
    return {};                                         \
  }                                                    \
                                                       \
 public:
#define WEFT_REJECT_COPIES(sentence, type)                                          \
  type(type&&) = default;                                                           \
  type& operator=(type&&) = default;                                                \
  type(const type&, ::weft::copying<::weft::spelled<sentence>> = nullptr) = delete; \
  ::weft::because<::weft::spelled<sentence>> operator=(const type&) = delete;
#endif

namespace weft {

// The type that compilers print for an invalid call of a member function.
template <class... About>
struct because {};

// The same for a copy. Braces are none.
template <class Because>
struct copying {
  constexpr copying(std::nullptr_t) {}
};

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
    for (const char c : s)
      if (size < sizeof characters) characters[size++] = c;
    return *this;
  }
};
// The message that Maker::make() builds.
template <class Maker>
constexpr auto text_of() {
  constexpr message m = Maker::make();
  fixed_string<m.size + 1> t;
  std::string_view(m.characters, m.size).copy(t.chars, m.size);
  return t;
}

}  // namespace detail

}  // namespace weft
#include "weft/header_end.hpp"
