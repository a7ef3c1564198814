#include "weft/ops/dropout.hpp"

#include "words.hpp"

using namespace words;

struct Many : weft::axis<(std::size_t{1} << 33)> {};

static_assert(is<decltype(weft::dropout(x, 0.1)), floats<Batch, Pos, Embed>>);

// A rate outside of [0, 1] or too many elements are not a constant expression.
template <class Axis>
constexpr bool drops(double rate) {
  weft::graph g;
  floats<Axis> const p{&g, g.emit(weft::make_node(weft::op::input))};
  weft::dropout(p, rate);
  return true;
}
static_assert(is_constant<[] { return drops<Batch>(0.5); }> &&
              !is_constant<[] { return drops<Batch>(-0.1); }> &&
              !is_constant<[] { return drops<Batch>(1.1); }>);
static_assert(!is_constant<[] { return drops<Many>(0.5); }>);
