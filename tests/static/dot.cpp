#include "weft/ops/dot.hpp"

#include "words.hpp"

using namespace words;

// The result has the remaining axes of the left operand, then those that only the right has.
static_assert(is<decltype(dot<Embed>(x, w)), floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(dot<Embed>(w, x)), floats<Heads, HeadDim, Batch, Pos>>);
// Axes of both operands that are not contracted are batch axes.
static_assert(is<decltype(dot<HeadDim>(query, key)), floats<Batch, Pos, Heads, KeyPos>>);
// Several axes; all axes.
static_assert(is<decltype(dot<Heads, HeadDim>(query, w)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(dot<Embed>(gain, gain)), floats<>>);
// The operands have at most eight distinct axes.
static_assert(weft::shape_t<decltype(weft::dot<Level<4>>(
                  five<float>, floats<Level<4>, Level<5>, Level<6>, Level<7>>{}))>::rank == 7);
