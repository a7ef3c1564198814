#include "weft/ops/expect.hpp"

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/sources.hpp"
#include "words.hpp"

using namespace words;

// expect returns its operand, in whatever order its axes are named.
static_assert(is<decltype(weft::expect<Embed, Batch, Pos>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(expect<Batch, Pos, Embed>(x + gain)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::expect<>(floats<>{})), floats<>>);
static_assert(
    is<decltype(weft::expect<Pos>(weft::positions<Pos>())), decltype(weft::positions<Pos>())>);
static_assert(weft::expect<Batch>(floats<Batch>{nullptr, 7}).id == 7);
static_assert(
    is<decltype(weft::expect<Batch, weft::shape<Pos, Embed>>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::expect<weft::shape_t<floats<Batch, Pos, Embed>>>(x)),
                 floats<Batch, Pos, Embed>>);
