#include "weft/ops/concatenate.hpp"

#include "words.hpp"

using namespace words;
using weft::shape;

struct Prefix : weft::axis<4> {};
struct Rest : weft::axis<12> {};
struct Joint : weft::axis<16> {};
struct Cache : weft::axis<weft::up_to<100>> {};
struct Present : weft::axis<weft::up_to<612>> {};

constexpr floats<Batch, Prefix> a{};
constexpr floats<Rest, Batch> b{};

// The new axis is where the first operand has the axis that is joined.
static_assert(
    is<decltype(weft::concatenate<Joint, shape<Prefix, Rest>>(a, b)), floats<Batch, Joint>>);
static_assert(
    is<decltype(weft::concatenate<Joint, shape<Rest, Prefix>>(b, a)), floats<Joint, Batch>>);
static_assert(
    is<decltype(weft::concatenate<Present, shape<Cache, Pos>>(integers<Batch, Cache>{}, tokens)),
       integers<Batch, Present>>);

struct Pair : weft::axis<2> {};
static_assert(is<decltype(weft::stack<Pair>(x, floats<Embed, Batch, Pos>{})),
                 floats<Pair, Batch, Pos, Embed>>);
