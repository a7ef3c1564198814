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
template <class Pos, class To, class Taps, class In, class Out, window W = window{}>
constexpr auto convolves = [](auto v) {
  return requires(weft::scope s) {
    weft::nn::convolution<Pos, To, Taps, In, Out, W>(s, v);
  };
};

static_assert(is<decltype(weft::windows<Pos, Inside, Tap>(x)), floats<Batch, Inside, Tap, Embed>>);
static_assert(looks<Pos, Pos, Tap, window{.left = 2}>(x));
static_assert(looks<Pos, KeyPos, Tap, window{.dilation = 2, .left = 2, .right = 2}>(x));
static_assert(!looks<Heads, Inside, Tap>(x));                            // missing
static_assert(!looks<Pos, int, Tap>(x) && !looks<Pos, Inside, int>(x));  // kind
static_assert(!looks<Pos, Embed, Tap>(x) && !looks<Pos, Pos, Pos>(x));   // taken
static_assert(!looks<Pos, Inside, Inside>(x));
static_assert(!looks<Pos, Inside, KeyPos>(x));                        // taps
static_assert(!looks<Pos, Inside, Tap, window{.stride = 0}>(x));      // steps
static_assert(!looks<Pos, Pos, Tap>(x) && !looks<Pos, Out, Tap>(x));  // length
static_assert(!looks<Pos, Inside, Tap, window{.left = 1}>(x));

static_assert(convolves<Pos, Inside, Tap, Embed, Out>(x));
static_assert(!convolves<Pos, Pos, Tap, Embed, Out>(x));          // windows
static_assert(!convolves<Pos, Inside, Tap, Heads, Out>(x));       // missing
static_assert(!convolves<Pos, Inside, Tap, Embed, Embed>(x));     // twice
static_assert(!convolves<Pos, Inside, Tap, Batch, Out>(tokens));  // elements
