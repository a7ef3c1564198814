#include "weft/ops/reduce.hpp"

#include "words.hpp"

using namespace words;

// The result lacks the named axes.
static_assert(is<decltype(weft::sum<Pos>(x)), floats<Batch, Embed>>);
static_assert(is<decltype(weft::max<Embed, Batch>(x)), floats<Pos>>);
static_assert(is<decltype(weft::mean<Embed, Batch, Pos>(x)), floats<>>);
