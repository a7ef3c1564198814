#include <utility>

#include "weft/nn/convolution.hpp"
#include "words.hpp"

using namespace words;
using weft::window;

struct Tap : weft::axis<3> {};
struct Inside : weft::axis<weft::up_to<510>> {};
struct Out : weft::axis<16> {};

template <class Pos, class To, class Taps, window W = window{}>
constexpr auto looks = [](auto v) {
  return requires {
    weft::windows<Pos, To, Taps, W>(v);
  };
};
template <class Pos, class To, class Taps, class In, class Out, window W = window{},
          class... Groups>
constexpr auto convolves = [](auto v) {
  return requires(weft::scope s) {
    weft::nn::convolution<Pos, To, Taps, In, Out, W, Groups...>(s, v);
  };
};

static_assert(is<decltype(weft::windows<Pos, Inside, Tap>(x)), floats<Batch, Inside, Tap, Embed>>);
static_assert(looks<Pos, Pos, Tap, window{.left = 2}>(x));
static_assert(looks<Pos, KeyPos, Tap, window{.dilation = 2, .left = 2, .right = 2}>(x));
static_assert(!looks<Heads, Inside, Tap>(x));                            // no such axis
static_assert(!looks<Pos, int, Tap>(x) && !looks<Pos, Inside, int>(x));  // not an axis
static_assert(!looks<Pos, Embed, Tap>(x) && !looks<Pos, Pos, Pos>(x));   // taken
static_assert(!looks<Pos, Inside, Inside>(x));
static_assert(!looks<Pos, Inside, KeyPos>(x));                        // bounded taps
static_assert(!looks<Pos, Inside, Tap, window{.stride = 0}>(x));      // stride of 0
static_assert(!looks<Pos, Pos, Tap>(x) && !looks<Pos, Out, Tap>(x));  // length
static_assert(!looks<Pos, Inside, Tap, window{.left = 1}>(x));

template <class Pos, class To, class In, class Out, window W, class... Groups>
using convolved = decltype(weft::nn::convolution<Pos, To, Tap, In, Out, W, Groups...>(
    std::declval<weft::scope>(), std::declval<floats<Batch, Pos, Groups..., In>>()));
constexpr window same{.left = 1, .right = 1};
static_assert(is<convolved<Pos, Inside, Embed, Out, window{}>, floats<Batch, Inside, Out>>);
static_assert(is<convolved<Pos, Pos, Embed, Out, same>, floats<Batch, Pos, Out>>);
static_assert(is<convolved<Pos, KeyPos, Embed, Embed, same>, floats<Batch, KeyPos, Embed>>);
static_assert(is<convolved<Pos, Pos, HeadDim, Out, same, Heads>, floats<Batch, Pos, Heads, Out>>);
static_assert(
    is<convolved<Pos, Pos, HeadDim, HeadDim, same, Heads>, floats<Batch, Pos, Heads, HeadDim>>);
static_assert(!convolves<Pos, Pos, Tap, Embed, Out>(x));     // length
static_assert(!convolves<Pos, Inside, Tap, Heads, Out>(x));  // no such axis
static_assert(!convolves<Pos, Inside, Tap, Embed, Out, window{}, Heads>(x));
static_assert(!convolves<Pos, Pos, Tap, Embed, Out, same, Pos>(x));
static_assert(!convolves<Pos, Inside, Tap, Embed, Batch>(x));  // named twice
static_assert(!convolves<Pos, Pos, Tap, Embed, Pos, same>(x));
static_assert(!convolves<Pos, Inside, Tap, HeadDim, Heads, window{}, Heads>(query));
static_assert(!convolves<Pos, Inside, Tap, Heads, Heads, window{}, Heads>(query));
static_assert(!convolves<Pos, Inside, Tap, Embed, Tap>(x));
static_assert(!convolves<Pos, Inside, Tap, Batch, Out>(tokens));  // dtype
