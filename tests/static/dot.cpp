#include "weft/ops/dot.hpp"

#include "words.hpp"

using namespace words;

template <class... K>
constexpr auto dots = [](auto l, auto r) {
  return requires {
    weft::dot<K...>(l, r);
  };
};

// The remaining axes of the left, then those of the right that the left has not.
static_assert(dots<Embed>(x, w));
static_assert(is<decltype(dot<Embed>(x, w)), floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(dot<Embed>(w, x)), floats<Heads, HeadDim, Batch, Pos>>);
// Axes that both have and that are not contracted are matched.
static_assert(is<decltype(dot<HeadDim>(query, key)), floats<Batch, Pos, Heads, KeyPos>>);
// Several axes; all axes.
static_assert(is<decltype(dot<Heads, HeadDim>(query, w)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(dot<Embed>(gain, gain)), floats<>>);

// left, right
static_assert(!dots<Heads>(x, w));
static_assert(!dots<Pos>(x, w));
static_assert(!dots<KeyPos>(query, key) && !dots<Pos>(query, key));
static_assert(!dots<Embed, Heads>(x, w));
// twice
static_assert(!dots<Embed, Embed>(x, w));
// nothing
static_assert(!dots<>(x, w));
// elements
static_assert(!dots<Pos>(tokens, x) && !dots<Pos>(x, tokens) && !dots<Pos>(causal, x));

// rank: eight axes between the operands are the most.
static_assert(dots<Level<4>>(five<float>, floats<Level<4>, Level<5>, Level<6>, Level<7>>{}));
static_assert(!dots<Level<4>>(five<float>, five_more<float>));

// Not a tensor.
static_assert(!dots<Embed>(x, 1.0f));
