#include "weft/graph/scope.hpp"

#include "words.hpp"

using namespace words;

extern const weft::scope s;

// A parameter is float, with its axes in the order in which they are named.
static_assert(is<decltype(s.param<"weight", Embed, Heads>()), floats<Embed, Heads>>);
static_assert(is<decltype(s.param<"scale">()), floats<>>);
static_assert(
    is<decltype(s.param<"weight", weft::shape<Embed, Heads>, Pos>()), floats<Embed, Heads, Pos>>);
static_assert(
    is<decltype(s.param<"weight", Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>,
                        Level<6>, Level<7>>()),
       floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>>);
static_assert(is<decltype(s.input<"x", bool, Pos>()), masks<Pos>>);
static_assert(is<decltype(s.input<"x", std::int32_t>()), integers<>>);
static_assert(is<decltype(s.input<"x", float, Batch, Pos>()), floats<Batch, Pos>>);
static_assert(is<decltype(s.state<"x", float, Pos>()), floats<Pos>>);
static_assert(is<decltype(s.state<"x", std::int32_t>()), integers<>>);

// Names are paths.
constexpr bool path_is(std::string_view expected, auto make) {
  weft::graph g;
  return make(weft::scope(g)).path() == expected;
}
static_assert(path_is("", [](weft::scope s) { return s; }));
static_assert(path_is("layer.0.query", [](weft::scope s) { return s / "layer" / 0 / "query"; }));
static_assert(path_is("layer.120", [](weft::scope s) { return s / "layer" / 120; }));

// In a shared scope, declarations of the same name are one parameter.
constexpr bool is_one_parameter() {
  weft::graph g;
  const weft::scope s = weft::scope(g).shared() / "table";
  const auto a = s.param<"weight", Embed>();
  const auto b = s.param<"weight", Embed>();
  const auto c = s.param<"bias", Embed>();
  return a.id == b.id && a.id != c.id && g.parameter_count == 2;
}
static_assert(is_one_parameter());
