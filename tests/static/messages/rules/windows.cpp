#include "weft/nn/convolution.hpp"

#include "../../words.hpp"

using namespace words;

struct Tap : weft::axis<3> {};
struct Inside : weft::axis<weft::up_to<510>> {};
struct Fewer : weft::axis<weft::up_to<3>> {};
struct Out : weft::axis<16> {};
struct Ten : weft::axis<10> {};
constexpr weft::window same{.left = 1, .right = 1};
constexpr weft::window halved{.stride = 2, .left = 514};
struct Four : weft::axis<4> {};
struct Fixed : weft::axis<510> {};

void wrong(weft::scope s) {
  // error: windows: the operand has no such axis
  weft::windows<Heads, Inside, Tap>(x);
  // errors: windows: what is to be new is not an axis
  weft::windows<Pos, int, Tap>(x);
  weft::windows<Pos, Inside, int>(x);
  // errors: windows: a new axis is named twice, or the operand has it already
  weft::windows<Pos, Embed, Tap>(x);
  weft::windows<Pos, Pos, Pos>(x);
  weft::windows<Pos, Inside, Inside>(x);
  // errors: windows: the number of places in a window is known while compiling
  weft::windows<Pos, Inside, Fewer>(x);
  weft::windows<Pos, Inside, KeyPos>(x);
  // error: windows: stride and dilation are at least 1
  weft::windows<Pos, Inside, Tap, weft::window{.stride = 0}>(x);
  // error: windows: the extent of the windows' axis is not (extent + left + right - dilation *
  // (taps - 1) - 1) / stride + 1; see windows_extent<has to be, is>
  // note: windows_extent<510, 512>
  weft::windows<Pos, Pos, Tap>(x);
  // error: windows: the extent of the windows' axis is not (extent + left + right - dilation *
  // (taps - 1) - 1) / stride + 1; see windows_extent<has to be, is>
  // note: windows_extent<510, 16>
  weft::windows<Pos, Out, Tap>(x);
  // error: windows: the extent of the windows' axis is not (extent + left + right - dilation *
  // (taps - 1) - 1) / stride + 1; see windows_extent<has to be, is>
  // note: windows_extent<511, 510>
  weft::windows<Pos, Inside, Tap, weft::window{.left = 1}>(x);
  // errors: windows: a length known at run time only gives such a length, of an axis that is Pos or
  // an alias of it only if there are as many windows as elements
  weft::windows<Pos, Fixed, Tap>(x);
  weft::windows<Pos, Pos, Tap, halved>(x);
  // error: windows: the result has more than 8 axes
  weft::windows<Ten, Four, Level<5>>(
      floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<7>, Batch, Ten>{});
  // error: nn::convolution: the extent of OutPos is not (extent + left + right - dilation * (taps -
  // 1) - 1) / stride + 1; see windows_extent<has to be, is>
  // note: windows_extent<510, 512>
  weft::nn::convolution<Pos, Pos, Tap, Embed, Out>(s, x);
  // error: nn::convolution: OutPos and Tap are axes
  weft::nn::convolution<Pos, int, Tap, Embed, Out>(s, x);
  // error: nn::convolution: OutPos or Tap is named twice, or the operand has it already
  weft::nn::convolution<Pos, Batch, Tap, Embed, Out>(s, x);
  // error: nn::convolution: the number of taps is known while compiling
  weft::nn::convolution<Pos, Inside, Fewer, Embed, Out>(s, x);
  // error: nn::convolution: stride and dilation are at least 1
  weft::nn::convolution<Pos, Inside, Tap, Embed, Out, weft::window{.dilation = 0}>(s, x);
  // error: nn::convolution: a length known at run time only gives such a length, of an axis that is
  // Pos or an alias of it only if there are as many outputs as elements
  weft::nn::convolution<Pos, Fixed, Tap, Embed, Out>(s, x);
  // error: nn::convolution: the windows have more than 8 axes
  weft::nn::convolution<Ten, Four, Level<5>, Batch, Out>(
      s, floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<7>, Batch, Ten>{});
  // errors: nn::convolution: Pos, In and Groups are axes of the operand, and Out is an axis
  weft::nn::convolution<Heads, Inside, Tap, Embed, Out>(s, x);
  weft::nn::convolution<Pos, Inside, Tap, Heads, Out>(s, x);
  weft::nn::convolution<Pos, Pos, Tap, Embed, Out, same, Pos>(s, x);
  weft::nn::convolution<Pos, Pos, Tap, Embed, Out, same, Heads>(s, x);
  // error: nn::convolution: the elements are not float; convert with weft::cast<float>
  weft::nn::convolution<Pos, Inside, Tap, Batch, Out>(s, tokens);
  // errors: nn::convolution: an axis is named twice; give the second role a name of its own with
  // weft::alias
  weft::nn::convolution<Pos, Inside, Tap, Embed, Batch>(s, x);
  weft::nn::convolution<Pos, Pos, Tap, Embed, Pos, same>(s, x);
  weft::nn::convolution<Pos, Inside, Tap, Embed, Tap>(s, x);
  weft::nn::convolution<Pos, Pos, Tap, HeadDim, Heads, same, Heads>(s, query);
  weft::nn::convolution<Pos, Pos, Tap, Heads, Heads, same, Heads>(s, query);
}
