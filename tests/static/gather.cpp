#include "weft/ops/gather.hpp"

#include "words.hpp"

using namespace words;

constexpr floats<Vocab, Embed> table{};
constexpr floats<Batch, Pos, Vocab> logits{};

template <class A>
constexpr auto gathers = [](auto t, auto i) {
  return requires {
    weft::gather<A>(t, i);
  };
};
template <class A>
constexpr auto takes_cross_entropy = [](auto l, auto t) {
  return requires {
    weft::cross_entropy<A>(l, t);
  };
};

// The result has the axes of the indices, then those of the table that are not indexed.
static_assert(is<decltype(weft::gather<Vocab>(table, tokens)), floats<Batch, Pos, Embed>>);
// Axes of both operands are batch axes.
static_assert(is<decltype(weft::gather<Vocab>(logits, tokens)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::gather<Pos>(tokens, integers<KeyPos>{})), integers<KeyPos, Batch>>);
static_assert(gathers<Vocab>(table, tokens));
static_assert(!gathers<Vocab>(table, x) && !gathers<Vocab>(table, causal));  // indices: dtype
static_assert(!gathers<Heads>(table, tokens));                               // no such axis
static_assert(!gathers<Vocab>(table, integers<Vocab>{}));                    // indices have Vocab
static_assert(!gathers<Level<4>>(five_more<float>,
                                 integers<Level<0>, Level<1>, Level<2>, Level<3>>{}));  // rank

template <class From, class To>
constexpr auto sums_segments = [](auto x, auto i) {
  return requires {
    weft::segment_sum<From, To>(x, i);
  };
};

static_assert(is<decltype(weft::segment_sum<Pos, Vocab>(x, tokens)), floats<Batch, Vocab, Embed>>);
static_assert(is<decltype(weft::segment_sum<KeyPos, Vocab>(key, weft::positions<KeyPos>())),
                 floats<Batch, Vocab, Heads, HeadDim>>);
static_assert(sums_segments<Pos, Vocab>(x, tokens));
static_assert(!sums_segments<Pos, Vocab>(tokens, tokens));              // dtype
static_assert(!sums_segments<KeyPos, Vocab>(x, tokens));                // no such axis
static_assert(!sums_segments<Pos, int>(x, tokens));                     // not an axis
static_assert(!sums_segments<Pos, Embed>(x, tokens));                   // x has the axis
static_assert(!sums_segments<Pos, Vocab>(x, x));                        // indices: dtype
static_assert(!sums_segments<Pos, Vocab>(x, integers<Pos, KeyPos>{}));  // indices: other axes

static_assert(is<decltype(weft::cross_entropy<Vocab>(logits, tokens)), floats<Batch, Pos>>);
static_assert(!takes_cross_entropy<Heads>(logits, tokens));
static_assert(!takes_cross_entropy<Vocab>(logits, x));
static_assert(!takes_cross_entropy<Vocab>(integers<Batch, Vocab>{}, tokens));
static_assert(!takes_cross_entropy<Pos>(logits, tokens));  // the targets have the axis
static_assert(!takes_cross_entropy<Level<5>>(five_more<float>,
                                             integers<Level<0>, Level<1>, Level<2>, Level<3>>{}));
