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

// The axes of the indices, then those of the table that are not picked from.
static_assert(is<decltype(weft::gather<Vocab>(table, tokens)), floats<Batch, Pos, Embed>>);
// Axes that both have are matched.
static_assert(is<decltype(weft::gather<Vocab>(logits, tokens)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::gather<Pos>(tokens, integers<KeyPos>{})), integers<KeyPos, Batch>>);
static_assert(gathers<Vocab>(table, tokens));
static_assert(!gathers<Vocab>(table, x) && !gathers<Vocab>(table, causal));  // indices
static_assert(!gathers<Heads>(table, tokens));                               // missing
static_assert(!gathers<Vocab>(table, integers<Vocab>{}));                    // nested

static_assert(is<decltype(weft::cross_entropy<Vocab>(logits, tokens)), floats<Batch, Pos>>);
static_assert(!takes_cross_entropy<Heads>(logits, tokens));
static_assert(!takes_cross_entropy<Vocab>(logits, x));
