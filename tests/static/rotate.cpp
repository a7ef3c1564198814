#include "weft/ops/rotate.hpp"

#include "words.hpp"

using namespace words;

struct Half : weft::axis<32> {};
struct Few : weft::axis<5> {};
struct Many : weft::axis<33> {};

constexpr floats<Pos, Half> angle{};

template <class Numbers, class Pairs>
constexpr auto rotates = [](auto x, auto c, auto s) {
  return requires {
    weft::rotate<Numbers, Pairs>(x, c, s);
  };
};

static_assert(is<decltype(weft::rotate<HeadDim, Half>(query, angle, angle)),
                 floats<Batch, Pos, Heads, HeadDim>>);
// Axes that only the angles have come last.
static_assert(is<decltype(weft::rotate<HeadDim, Few>(floats<HeadDim, Heads>{}, floats<Few>{},
                                                     floats<Pos, Few>{})),
                 floats<HeadDim, Heads, Pos>>);
static_assert(rotates<HeadDim, Half>(query, angle, angle));
static_assert(!rotates<HeadDim, Half>(x, angle, angle));                        // no such axis
static_assert(!rotates<HeadDim, Half>(integers<HeadDim>{}, angle, angle));      // dtype
static_assert(!rotates<HeadDim, Half>(query, angle, masks<Half>{}));            // dtype
static_assert(!rotates<HeadDim, Half>(query, angle, floats<Pos>{}));            // no axis of pairs
static_assert(!rotates<HeadDim, Pos>(query, angle, angle));                     // bounded
static_assert(!rotates<HeadDim, Many>(query, floats<Many>{}, floats<Many>{}));  // too many pairs
static_assert(!rotates<HeadDim, Half>(floats<Half, HeadDim>{}, angle, angle));  // taken
static_assert(!rotates<Level<4>, Level<0>>(five_more<float>, five<float>, five<float>));  // taken
static_assert(!rotates<HeadDim, Few>(
    floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, HeadDim>{},
    floats<Few, Level<6>, Level<7>>{}, floats<Few>{}));  // rank
