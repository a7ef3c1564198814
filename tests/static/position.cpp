#include "weft/nn/position.hpp"

#include "words.hpp"

using namespace words;
namespace nn = weft::nn;
namespace order = weft::nn::position;

struct Places : weft::axis<1000> {};

constexpr auto at = tokens;  // int32 [Batch, Pos]

template <class P>
concept adds_at_places = requires(weft::scope s, P p) {
  p.template embedding<Pos, Embed>(s, at);
};
template <class P>
concept adds = requires(weft::scope s, P p) {
  p.template embedding<Pos, Embed>(s, weft::positions<Pos>());
};
template <class Pos, class Embed>
constexpr auto is_positioned = [](auto x, auto p, auto... at) {
  return requires(weft::scope s) {
    nn::add_positions<Pos, Embed>(s, x, p, at...);
  };
};
template <class HeadDim, std::size_t Size>
concept turns = requires {
  nn::rotary<HeadDim, nn::rotary_pairs::half_split, Size>(query, at);
};
// An encoding with a table or a length needs an axis of all positions, unless these are 0, 1, 2, …
static_assert(adds<order::learned<>> && !adds_at_places<order::learned<>>);
static_assert(adds<order::learned<Places>> && adds_at_places<order::learned<Places>>);
static_assert(adds<order::relative_index<>> && !adds_at_places<order::relative_index<>>);
static_assert(adds_at_places<order::relative_index<Places>>);
static_assert(adds_at_places<order::sinusoidal> && adds_at_places<order::index>);

static_assert(is_positioned<Pos, Embed>(x, order::sinusoidal()));
static_assert(is_positioned<Pos, Embed>(x, order::sinusoidal(), at));
static_assert(is_positioned<Pos, Embed>(x, order::rotary()));
static_assert(!is_positioned<KeyPos, Embed>(x, order::sinusoidal()));
static_assert(!is_positioned<Pos, HeadDim>(x, order::sinusoidal(), at));
static_assert(!is_positioned<Batch, Pos>(tokens, order::sinusoidal()));
static_assert(!is_positioned<Batch, Pos>(tokens, order::sinusoidal(), at));
static_assert(!is_positioned<Pos, Embed>(x, order::sinusoidal(), x));
static_assert(!is_positioned<Pos, Embed>(x, 3));
static_assert(!is_positioned<Pos, Embed>(x, 3, at));
static_assert(!is_positioned<Pos, Embed>(x, order::sinusoidal(), integers<Batch>{}));
static_assert(!is_positioned<Pos, Embed>(x, order::sinusoidal(), integers<Pos, KeyPos>{}));
static_assert(!is_positioned<Pos, Embed>(x, 3));

static_assert(turns<HeadDim, 64> && turns<HeadDim, 2> && !turns<HeadDim, 3>);
static_assert(!turns<HeadDim, 66>);  // more elements than HeadDim has
static_assert(!turns<Embed, 2>);     // the operand has no such axis

// Options are passed by name to the constructor.
static_assert(order::rotary({.base = 500000}).options.base == 500000);
static_assert(order::rotary<nn::rotary_pairs::interleaved, 4>().options.base == 10000);
static_assert(order::t5({.causal = true}).options.causal && !order::t5().options.causal);
