#include "weft/graph/trace.hpp"

#include "words.hpp"

using namespace words;

// A model has a const call operator that takes a scope and returns a tensor or results.
struct one_result {
  constexpr floats<Pos> operator()(weft::scope s) const { return s.input<"x", float, Pos>(); }
};
struct two_results {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos>();
    return weft::results(weft::as<"once">(x), weft::as<"again">(x));
  }
};
static_assert(weft::model_like<one_result> && weft::model_like<two_results>);

struct not_const {
  constexpr floats<Pos> operator()(weft::scope s) { return s.input<"x", float, Pos>(); }
};
struct without_scope {
  constexpr float operator()() const { return 1; }
};
static_assert(!weft::detail::has_const_call_operator_with_a_scope<not_const>);
static_assert(!weft::detail::has_const_call_operator_with_a_scope<without_scope>);
static_assert(!weft::model_like<not_const> && !weft::model_like<without_scope> &&
              !weft::model_like<int>);

struct a_number {
  constexpr float operator()(weft::scope) const { return 1; }
};
struct nothing {
  constexpr void operator()(weft::scope) const {}
};
static_assert(weft::detail::has_const_call_operator_with_a_scope<a_number>);
static_assert(!weft::model_like<a_number> && !weft::model_like<nothing>);
