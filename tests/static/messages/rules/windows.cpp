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
constexpr weft::window reflected{.left = 10, .outside = weft::padding_mode::reflected};
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
  // error: windows: an axis reflects fewer elements than it has, 16777216 at most
  weft::windows<Ten, Level<16>, Tap, reflected>(floats<Ten>{});
  using weft::nn::convolution, weft::nn::in_groups, weft::nn::along;
  // errors: nn::convolution: name channels and axes to run along with their taps, as in
  // convolution<In, Out, nn::along<Pos, 3>>(s, x)
  convolution<Embed, Out, Pos>(s, x);
  convolution<Embed, Out, along<Pos, 0>>(s, x);
  // errors: nn::convolution: In and what it runs over are different axes of the operand, and Out is
  // one
  convolution<Heads, Out, along<Pos, 3>>(s, x);
  convolution<Embed, int, along<Pos, 3>>(s, x);
  convolution<Embed, Out, along<Embed, 3>>(s, x);
  convolution<Embed, Out, along<Heads, 3>>(s, x);
  convolution<Embed, Out, along<int, 3>>(s, x);
  convolution<Embed, Out, along<Pos, 3, same>, along<Pos, 3, same>>(s, x);
  // errors: nn::convolution: stride and dilation are at least 1
  convolution<Embed, Out, along<Pos, 3, weft::window{.dilation = 0}>>(s, x);
  convolution<Embed, Out, along<Pos, 3, weft::window{.stride = 0}>>(s, x);
  // error: nn::convolution: the taps reach further than the padded axis
  convolution<Embed, Out, along<Ten, 13, same>>(s, floats<Embed, Ten>{});
  // errors: nn::convolution: the number of groups does not divide In and Out
  convolution<in_groups<Embed, 5>, Embed, along<Pos, 3>>(s, x);
  convolution<in_groups<Embed, 0>, Embed, along<Pos, 3>>(s, x);
  // error: nn::convolution: fewer elements are reflected than the axis has
  convolution<Embed, Out, along<Ten, 3, reflected>>(s, floats<Embed, Ten>{});
  // error: nn::convolution: the windows have more than 8 axes
  convolution<Batch, Out, along<Ten, 5>>(
      s, floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<7>, Batch, Ten>{});
  // error: nn::convolution: the elements are not float; convert with weft::cast<float>
  convolution<Batch, Out, along<Pos, 3>>(s, tokens);
  // error: nn::convolution: an axis is named twice; give the second role a name of its own with
  // weft::alias
  convolution<Embed, Batch, along<Pos, 3>>(s, x);
}
