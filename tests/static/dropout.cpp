#include "weft/ops/dropout.hpp"

#include "words.hpp"

using namespace words;

struct Many : weft::axis<(std::size_t{1} << 33)> {};

constexpr auto drops = [](auto v) {
  return requires {
    weft::dropout(v, 0.1);
  };
};
static_assert(is<decltype(weft::dropout(x, 0.1)), floats<Batch, Pos, Embed>>);
static_assert(!drops(tokens) && !drops(causal));    // dtype
static_assert(!drops(weft::length<Batch, Pos>()));  // not in a graph

// A rate outside of [0, 1] or too many elements are not a constant expression.
template <double (*Rate)()>
constexpr auto with_rate = [] {
  weft::graph g;
  floats<Batch> const p{&g, g.emit(weft::make_node(weft::op::input))};
  weft::dropout(p, Rate());
  return true;
};
template <auto F>
concept compiles = requires {
  typename std::bool_constant<F()>;
};
constexpr double half() {
  return 0.5;
}
constexpr double negative() {
  return -0.1;
}
constexpr double above_one() {
  return 1.1;
}
constexpr auto too_many = [] {
  weft::graph g;
  floats<Many> const p{&g, g.emit(weft::make_node(weft::op::input))};
  weft::dropout(p, 0.5);
  return true;
};
static_assert(compiles<with_rate<half>>);
static_assert(!compiles<with_rate<negative>> && !compiles<with_rate<above_one>>);
static_assert(!compiles<too_many>);
