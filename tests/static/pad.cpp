#include "weft/ops/pad.hpp"

#include "words.hpp"

using namespace words;
using weft::pad, weft::padding;

struct Whole : weft::axis<weft::up_to<515>> {};
constexpr padding zeros{.left = 1, .right = 2};
constexpr padding mirrored{.left = 3, .mode = weft::padding_mode::reflected};

static_assert(is<decltype(pad<Pos, Whole, zeros>(x)), floats<Batch, Whole, Embed>>);
static_assert(is<decltype(pad<Pos, Whole, zeros>(x, 1)), floats<Batch, Whole, Embed>>);
static_assert(is<decltype(pad<Pos, Whole, mirrored>(tokens)), integers<Batch, Whole>>);
static_assert(is<decltype(pad<Pos, KeyPos, padding{}>(x)), floats<Batch, KeyPos, Embed>>);
static_assert(is<decltype(weft::flip<Pos>(causal)), masks<KeyPos, Pos>>);
