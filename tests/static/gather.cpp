#include "weft/ops/gather.hpp"

#include "words.hpp"

using namespace words;

constexpr floats<Vocab, Embed> table{};
constexpr floats<Batch, Pos, Vocab> logits{};

// The result has the axes of the indices, then those of the table that are not indexed.
static_assert(is<decltype(weft::gather<Vocab>(table, tokens)), floats<Batch, Pos, Embed>>);
// Axes of both operands are batch axes.
static_assert(is<decltype(weft::gather<Vocab>(logits, tokens)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::gather<Pos>(tokens, integers<KeyPos>{})), integers<KeyPos, Batch>>);

static_assert(is<decltype(weft::segment_sum<Pos, Vocab>(x, tokens)), floats<Batch, Vocab, Embed>>);
static_assert(is<decltype(weft::segment_sum<KeyPos, Vocab>(key, weft::positions<KeyPos>())),
                 floats<Batch, Vocab, Heads, HeadDim>>);

static_assert(is<decltype(weft::cross_entropy<Vocab>(logits, tokens)), floats<Batch, Pos>>);

static_assert(is<decltype(weft::argmax<Embed>(x)), integers<Batch, Pos>>);
static_assert(is<decltype(weft::argmin<Pos>(x)), integers<Batch, Embed>>);
static_assert(is<decltype(weft::one_hot<Vocab>(tokens)), floats<Batch, Pos, Vocab>>);
