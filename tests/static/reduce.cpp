#include "weft/ops/reduce.hpp"

#include "words.hpp"

using namespace words;

// The result lacks the named axes.
static_assert(is<decltype(weft::sum<Pos>(x)), floats<Batch, Embed>>);
static_assert(is<decltype(weft::max<Embed, Batch>(x)), floats<Pos>>);
static_assert(is<decltype(weft::mean<Embed, Batch, Pos>(x)), floats<>>);
static_assert(is<decltype(weft::min<Pos>(x)), floats<Batch, Embed>>);
static_assert(is<decltype(weft::any<Pos>(causal)), masks<KeyPos>>);
static_assert(is<decltype(weft::all<Pos, KeyPos>(causal)), masks<>>);
static_assert(is<decltype(weft::variance<Embed>(x, 0)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::logsumexp<Pos, Embed>(x)), floats<Batch>>);
