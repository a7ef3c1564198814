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

constexpr window same{.left = 1, .right = 1}, half{.stride = 2, .left = 1, .right = 1};
template <class Pos, class In, class Out, window W, class Channels = In>
using convolved = decltype(weft::nn::convolution<In, Out, weft::nn::along<Pos, 3, W>>(
    s, std::declval<floats<Batch, Pos, Channels>>()));
using weft::nn::in_groups;
static_assert(is<convolved<Pos, Embed, Out, same>, floats<Batch, Pos, Out>>);
static_assert(is<convolved<Pos, Embed, Embed, same>, floats<Batch, Pos, Embed>>);
static_assert(is<convolved<Pos, in_groups<Embed, 4>, Out, same, Embed>, floats<Batch, Pos, Out>>);
static_assert(
    is<convolved<Pos, Embed, Out, half>, floats<Batch, weft::nn::convolved<Pos, 3, half>, Out>>);
static_assert(weft::nn::convolved<Pos, 3, half>::extent == 256);
static_assert(weft::nn::convolved<Pos, 3, half>::bounded);
static_assert(is<weft::nn::convolved<Pos, 1>, Pos>);
