// From a model to its graph.
//
// A model is a struct whose operator()(weft::scope) const says what it has and what it computes,
// and returns a tensor (then its result is called "result") or weft::results(weft::as<"loss">(l),
// …).
#pragma once

#include <algorithm>
#include <boost/hana/for_each.hpp>
#include <stdexcept>
#include <utility>

#include "weft/axes/text.hpp"
#include "weft/graph/lengths.hpp"
#include "weft/graph/scope.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

// Reached while compiling, this function's name is what the compiler prints.
inline void two_results_have_the_same_name() {
  throw std::invalid_argument("results: two have the same name");
}

template <text Name, class X>
struct named_result {
  X value;
};
template <class... Named>
struct result_list {
  hana::tuple<Named...> items;
};

// A result and its name.
template <text Name, expression X>
constexpr named_result<Name, X> as(const X& x) {
  return {x};
}
// The results of a model that has more than one.
template <class... Named>
constexpr result_list<Named...> results(const Named&... items) {
  return {hana::make_tuple(items...)};
}

namespace detail {

template <expression X>
constexpr result_list<named_result<"result", X>> to_results(const X& x) {
  return {hana::make_tuple(named_result<"result", X>{x})};
}
template <text Name, class X>
constexpr result_list<named_result<Name, X>> to_results(const named_result<Name, X>& x) {
  return {hana::make_tuple(x)};
}
template <class... Named>
constexpr const result_list<Named...>& to_results(const result_list<Named...>& r) {
  return r;
}

template <text Name, class X>
constexpr void add_result(graph& g, const named_result<Name, X>& r) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.name(g.outputs[i].name) == Name.view()) two_results_have_the_same_name();
  output o{};
  o.kind = role::result;
  o.name = g.intern(Name.view());
  o.node = place(g, r.value);
  g.outputs[g.output_count++] = o;
}

// The names are what compilers print where a struct is no model.
template <class Model>
concept has_const_call_operator_with_a_scope = requires(const Model m, scope s) {
  m(s);
};
template <class Model>
concept returns_a_tensor_or_results = requires(const Model m, scope s) {
  to_results(m(s));
};

}  // namespace detail

template <class Model>
concept a_model = detail::has_const_call_operator_with_a_scope<Model> &&
    detail::returns_a_tensor_or_results<Model>;

template <a_model Model>
using results_of = std::remove_cvref_t<decltype(detail::to_results(
    std::declval<const Model&>()(std::declval<scope>())))>;

// The graph of a model, with all its results, and after them the updates of its states.
template <a_model Model>
constexpr graph define() {
  graph g;
  auto const r = Model{}(scope(g));
  int const updates = g.output_count;
  hana::for_each(detail::to_results(r).items,
                 [&](const auto& item) { detail::add_result(g, item); });
  std::rotate(g.outputs, g.outputs + updates, g.outputs + g.output_count);
  derive_lengths(g);
  return g;
}

}  // namespace weft
