#include <utility>

#include "weft/nn/convolution.hpp"
#include "words.hpp"

using namespace words;
using weft::window;

struct Tap : weft::axis<3> {};
struct Inside : weft::axis<weft::up_to<510>> {};
struct Out : weft::axis<16> {};
extern const weft::scope s;

static_assert(is<decltype(weft::windows<Pos, Inside, Tap>(x)), floats<Batch, Inside, Tap, Embed>>);
static_assert(is<decltype(weft::windows<Pos, Pos, Tap, window{.left = 2}>(x)),
                 floats<Batch, Pos, Tap, Embed>>);
static_assert(
    is<decltype(weft::windows<Pos, KeyPos, Tap, window{.dilation = 2, .left = 2, .right = 2}>(x)),
       floats<Batch, KeyPos, Tap, Embed>>);

template <class Pos, class To, class In, class Out, window W, class... Groups>
using convolved = decltype(weft::nn::convolution<Pos, To, Tap, In, Out, W, Groups...>(
    s, std::declval<floats<Batch, Pos, Groups..., In>>()));
constexpr window same{.left = 1, .right = 1};
static_assert(is<convolved<Pos, Inside, Embed, Out, window{}>, floats<Batch, Inside, Out>>);
static_assert(is<convolved<Pos, Pos, Embed, Out, same>, floats<Batch, Pos, Out>>);
static_assert(is<convolved<Pos, KeyPos, Embed, Embed, same>, floats<Batch, KeyPos, Embed>>);
static_assert(is<convolved<Pos, Pos, HeadDim, Out, same, Heads>, floats<Batch, Pos, Heads, Out>>);
static_assert(
    is<convolved<Pos, Pos, HeadDim, HeadDim, same, Heads>, floats<Batch, Pos, Heads, HeadDim>>);
