#include "weft/ops/rotate.hpp"

#include "words.hpp"

using namespace words;

struct Half : weft::axis<32> {};
struct Few : weft::axis<5> {};

constexpr floats<Pos, Half> angle{};

static_assert(is<decltype(weft::rotate<HeadDim, Half>(query, angle, angle)),
                 floats<Batch, Pos, Heads, HeadDim>>);
// Axes that only the angles have come last.
static_assert(is<decltype(weft::rotate<HeadDim, Few>(floats<HeadDim, Heads>{}, floats<Few>{},
                                                     floats<Pos, Few>{})),
                 floats<HeadDim, Heads, Pos>>);
