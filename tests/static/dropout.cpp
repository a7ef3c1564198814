#include "weft/ops/dropout.hpp"

#include <limits>

#include "words.hpp"

using namespace words;

struct Many : weft::axis<(std::size_t{1} << 17)> {};
struct More : weft::axis<(std::size_t{1} << 16)> {};

static_assert(is<decltype(weft::dropout(x, 0.1)), floats<Batch, Pos, Embed>>);

// A rate outside of [0, 1], or too many elements, refuse the model.
template <class... Axes>
constexpr weft::model_fault fault_of(double rate) {
  weft::graph g;
  const floats<Axes...> p{&g, g.emit(weft::make_node(weft::op::input))};
  weft::dropout(p, rate);
  return g.fault;
}
static_assert(fault_of<Batch>(0) == weft::model_fault::none &&
              fault_of<Batch>(1) == weft::model_fault::none &&
              fault_of<Batch>(-0.1) == weft::model_fault::rate_of_dropout &&
              fault_of<Batch>(1.1) == weft::model_fault::rate_of_dropout &&
              fault_of<Batch>(std::numeric_limits<double>::quiet_NaN()) ==
                  weft::model_fault::rate_of_dropout);
static_assert(fault_of<Many, More>(0.5) == weft::model_fault::dropout_size);
