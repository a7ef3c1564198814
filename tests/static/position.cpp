#include "weft/nn/position.hpp"

#include "words.hpp"

using namespace words;
namespace nn = weft::nn;
namespace order = weft::nn::position;

struct Places : weft::axis<1000> {};
extern const weft::scope s;

// An encoding with a table or a length needs an axis of all positions, unless these are 0, 1, 2, …
template <class P, class At = integers<Batch, Pos>>
using embedded = decltype(std::declval<P>().template embedding<Pos, Embed>(s, std::declval<At>()));
using places = decltype(weft::positions<Pos>());
static_assert(are<floats<Pos, Embed>, embedded<order::learned<>, places>,
                  embedded<order::learned<Places>, places>>);
static_assert(
    is<weft::shape_t<embedded<order::relative_index<>, places>>, weft::shape<Pos, Embed>>);
static_assert(are<floats<Batch, Pos, Embed>, embedded<order::learned<Places>>,
                  embedded<order::relative_index<Places>>, embedded<order::sinusoidal>,
                  embedded<order::index>>);

template <class... Operands>
using positioned = decltype(nn::add_positions<Pos, Embed>(s, x, std::declval<Operands>()...));
static_assert(
    are<floats<Batch, Pos, Embed>, positioned<order::sinusoidal>,
        positioned<order::sinusoidal, integers<Batch, Pos>>, positioned<order::rotary<>>>);

template <std::size_t Size>
using turned = decltype(nn::rotary<HeadDim, nn::rotary_pairs::half_split, Size>(query, tokens));
static_assert(are<floats<Batch, Pos, Heads, HeadDim>, turned<64>, turned<2>>);

// Options are passed by name to the constructor.
static_assert(order::rotary({.base = 500000}).options.base == 500000);
static_assert(order::rotary<nn::rotary_pairs::interleaved, 4>().options.base == 10000);
static_assert(order::t5({.causal = true}).options.causal && !order::t5().options.causal);
