#include "weft/graph/scope.hpp"

#include "words.hpp"

using namespace words;

template <class S, class... Axes>
concept has_parameter = requires(S s) {
  s.template param<"weight", Axes...>();
};
template <class S, class T, class... Axes>
concept has_input = requires(S s) {
  s.template input<"x", T, Axes...>();
};

// A parameter is float, with its axes in the order in which they are named.
static_assert(is<decltype(std::declval<weft::scope>().param<"weight", Embed, Heads>()),
                 floats<Embed, Heads>>);
static_assert(is<decltype(std::declval<weft::scope>().param<"scale">()), floats<>>);
static_assert(
    is<decltype(std::declval<weft::scope>().param<"weight", weft::shape<Embed, Heads>, Pos>()),
       floats<Embed, Heads, Pos>>);
static_assert(has_parameter<weft::scope, Embed, Heads>);
static_assert(!has_parameter<weft::scope, Embed, Embed>);
static_assert(!has_parameter<weft::scope, Embed, Heads, Embed>);
static_assert(!has_parameter<weft::scope, int>);
static_assert(!has_parameter<weft::scope, weft::shape<Embed, Heads>, Embed>);
static_assert(has_parameter<weft::scope, Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>,
                            Level<6>, Level<7>>);
static_assert(!has_parameter<weft::scope, Level<0>, Level<1>, Level<2>, Level<3>, Level<4>,
                             Level<5>, Level<6>, Level<7>, Level<8>>);

static_assert(is<decltype(std::declval<weft::scope>().input<"x", bool, Pos>()), masks<Pos>>);
static_assert(is<decltype(std::declval<weft::scope>().input<"x", std::int32_t>()), integers<>>);
static_assert(has_input<weft::scope, float, Batch, Pos>);
static_assert(!has_input<weft::scope, float, Pos, Pos>);
static_assert(!has_input<weft::scope, double, Pos> && !has_input<weft::scope, Batch, Pos>);
static_assert(!has_input<weft::scope, double, Pos, Pos>);
static_assert(!has_input<weft::scope, float, int>);
static_assert(!has_input<weft::scope, float, Level<0>, Level<1>, Level<2>, Level<3>, Level<4>,
                         Level<5>, Level<6>, Level<7>, Level<8>>);

template <class S, class T, class... Axes>
concept has_state = requires(S s) {
  s.template state<"x", T, Axes...>();
};
static_assert(is<decltype(std::declval<weft::scope>().state<"x", float, Pos>()), floats<Pos>>);
static_assert(has_state<weft::scope, std::int32_t> && has_state<weft::scope, bool, Batch, Pos>);
static_assert(!has_state<weft::scope, float, Pos, Pos> && !has_state<weft::scope, float, int>);
static_assert(!has_state<weft::scope, Batch, Pos>);
static_assert(!has_state<weft::scope, float, Level<0>, Level<1>, Level<2>, Level<3>, Level<4>,
                         Level<5>, Level<6>, Level<7>, Level<8>>);

template <class State, class Value>
concept is_updated = requires(weft::scope s, State state, Value value) {
  s.update(state, value);
};
static_assert(is_updated<floats<Pos, Embed>, floats<Pos, Embed>>);
static_assert(!is_updated<floats<Pos, Embed>, floats<Embed, Pos>>);
static_assert(!is_updated<floats<Pos, Embed>, integers<Pos, Embed>>);

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
  weft::scope const s = weft::scope(g).shared() / "table";
  auto const a = s.param<"weight", Embed>();
  auto const b = s.param<"weight", Embed>();
  auto const c = s.param<"bias", Embed>();
  return a.id == b.id && a.id != c.id && g.parameter_count == 2;
}
static_assert(is_one_parameter());
