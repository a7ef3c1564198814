#include "weft/ops/normalize.hpp"

#include "words.hpp"

using namespace words;

// The result has the shape of the operand.
static_assert(is<decltype(weft::softmax<Pos>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::softmax<Pos, Batch>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::log_softmax<Embed>(x)), floats<Batch, Pos, Embed>>);
static_assert(
    is<decltype(weft::normalize<Embed>(x, {.epsilon = 1e-6})), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::layer_norm<Embed>(x, gain, gain)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::rms_norm<Embed>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::rms_norm<Pos, Embed>(x, gain)), floats<Batch, Pos, Embed>>);
