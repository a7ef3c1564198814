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
static_assert(weft::model_like<one_result> && weft::model_like<two_results> &&
              !weft::model_like<int>);

struct not_const {
  constexpr floats<Pos> operator()(weft::scope s) { return s.input<"x", float, Pos>(); }
};
struct without_scope {
  constexpr float operator()() const { return 1; }
};
static_assert(weft::detail::fault_of_struct<one_result>() == weft::model_fault::none &&
              weft::detail::fault_of_struct<not_const>() == weft::model_fault::no_operator &&
              weft::detail::fault_of_struct<without_scope>() == weft::model_fault::no_operator);

struct a_number {
  constexpr float operator()(weft::scope) const { return 1; }
};
struct nothing {
  constexpr void operator()(weft::scope) const {}
};
static_assert(weft::detail::fault_of_struct<a_number>() == weft::model_fault::no_tensor &&
              weft::detail::fault_of_struct<nothing>() == weft::model_fault::no_tensor);
