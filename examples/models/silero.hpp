// Silero's detector of speech (VAD 6, https://github.com/snakers4/silero-vad), at 16 kHz, under the
// names of the safetensors file in its package on PyPI: a spectrum by convolution, four
// convolutions, and an LSTM cell that remembers what was said before.
#pragma once

#include <weft/model.hpp>

namespace models {

// A run takes the next frame of the sound, 32 ms, and gives the probability that it is speech. What
// the next run has to know is a state: the last samples of the frame, and the cell's. reset()
// before another sound.
struct silero {
  struct Frame : weft::axis<512> {};
  struct Context : weft::axis<64> {};  // the last samples of the frame before
  struct Heard : weft::axis<576> {};   // these and the frame
  struct Mono : weft::axis<1> {};
  struct Basis : weft::axis<258> {};  // cosines, then sines
  struct Bin : weft::axis<129> {};
  struct Wide : weft::axis<128> {};
  struct Narrow : weft::axis<64> {};

  static constexpr weft::window hop{
      .stride = 128, .right = 64, .outside = weft::padding_mode::reflected};
  static constexpr weft::window same{.left = 1, .right = 1},
      half{.stride = 2, .left = 1, .right = 1};
  using Quarter = weft::nn::convolved<Heard, 256, hop>;  // four places of 8 ms each
  using Middle = weft::nn::convolved<Quarter, 3, half>;  // two
  using Whole = weft::nn::convolved<Middle, 3, half>;    // one

  template <class In, class Out, class Pos, weft::window W>
  static constexpr auto convolution(weft::scope s, auto x) {
    return relu(weft::nn::convolution<In, Out, weft::nn::along<Pos, 3, W>>(s, x));
  }

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto frame = s.input<"frame", float, Frame>();  // samples of about -1 to 1
    auto context = s.state<"context", float, Context>();
    s.update(context, weft::slice<Frame, Context, 512 - 64>(frame));
    auto heard = weft::concatenate<Heard, weft::shape<Context, Frame>>(context, frame);
    auto waves = nn::convolution<Mono, Basis, nn::along<Heard, 256, hop>>(
        s / "stft_conv", weft::unsqueeze<Mono>(heard), {.bias = false});
    auto re = weft::slice<Basis, Bin>(waves), im = weft::slice<Basis, Bin, 129>(waves);
    auto spectrum = sqrt(re * re + im * im);

    auto a = convolution<Bin, Wide, Quarter, same>(s / "conv1", spectrum);
    auto b = convolution<Wide, Narrow, Quarter, half>(s / "conv2", a);
    auto c = convolution<Narrow, Narrow, Middle, half>(s / "conv3", b);
    auto d = convolution<Narrow, Wide, Whole, same>(s / "conv4", c);

    auto hidden = s.state<"hidden", float, Wide>();
    auto cell = s.state<"cell", float, Wide>();
    auto [h, m] = nn::lstm_cell<Wide, Wide>(s / "lstm_cell")(weft::squeeze<Whole>(d), hidden, cell);
    s.update(hidden, h);
    s.update(cell, m);
    auto score = nn::convolution<Wide, Mono, nn::along<Whole, 1>>(s / "final_conv",
                                                                  weft::unsqueeze<Whole>(relu(h)));
    return weft::results(
        weft::as<"probability">(sigmoid(weft::squeeze<Mono>(weft::squeeze<Whole>(score)))));
  }
};

}  // namespace models
