#include "weft/ops/dot.hpp"

#include "words.hpp"

using namespace words;

template <class... K>
constexpr auto dots = [](auto l, auto r) {
  return requires {
    weft::dot<K...>(l, r);
  };
};

// The result has the remaining axes of the left operand, then those that only the right has.
static_assert(dots<Embed>(x, w));
static_assert(is<decltype(dot<Embed>(x, w)), floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(dot<Embed>(w, x)), floats<Heads, HeadDim, Batch, Pos>>);
// Axes of both operands that are not contracted are batch axes.
static_assert(is<decltype(dot<HeadDim>(query, key)), floats<Batch, Pos, Heads, KeyPos>>);
// Several axes; all axes.
static_assert(is<decltype(dot<Heads, HeadDim>(query, w)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(dot<Embed>(gain, gain)), floats<>>);

// A contracted axis is missing on the left, or on the right.
static_assert(!dots<Heads>(x, w));
static_assert(!dots<Pos>(x, w));
static_assert(!dots<KeyPos>(query, key) && !dots<Pos>(query, key));
static_assert(!dots<Embed, Heads>(x, w));
// An axis is named twice.
static_assert(!dots<Embed, Embed>(x, w));
// No axis is named.
static_assert(!dots<>(x, w));
// The operands are not float.
static_assert(!dots<Pos>(tokens, x) && !dots<Pos>(x, tokens) && !dots<Pos>(causal, x));

// The operands have at most eight distinct axes.
static_assert(dots<Level<4>>(five<float>, floats<Level<4>, Level<5>, Level<6>, Level<7>>{}));
static_assert(!dots<Level<4>>(five<float>, five_more<float>));

// Not a tensor.
static_assert(!dots<Embed>(x, 1.0f));
