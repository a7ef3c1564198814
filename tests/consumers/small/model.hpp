// A detector of speech in the manner of Silero's: a Fourier transform as a convolution, four
// convolutions, an LSTM.
#pragma once
#include <weft/model.hpp>
namespace small {
using namespace weft;
struct Sample : axis<576> {};
struct One : axis<1> {};
struct Filter : axis<258> {};
struct Bin : axis<129> {};
struct Wide : axis<128> {};
struct Narrow : axis<64> {};
inline constexpr window hops{.stride = 128, .right = 64, .outside = padding_mode::reflected};
inline constexpr window kept{.left = 1, .right = 1}, halved{.stride = 2, .left = 1, .right = 1};
struct detector {
  constexpr auto operator()(scope s) const {
    using nn::along;
    using nn::convolved;
    using Frame = convolved<Sample, 256, hops>;
    auto samples = s.input<"samples", float, One, Sample>();
    auto stft = nn::convolution<One, Filter, along<Sample, 256, hops>>(s / "stft", samples,
                                                                       {.bias = false});
    auto re = slice<Filter, Bin, 0>(stft), im = slice<Filter, Bin, 129>(stft);
    auto a = sqrt(re * re + im * im);
    auto b = relu(nn::convolution<Bin, Wide, along<Frame, 3, kept>>(s / "encoder.0", a));
    auto c = relu(nn::convolution<Wide, Narrow, along<Frame, 3, halved>>(s / "encoder.1", b));
    using Half = convolved<Frame, 3, halved>;
    auto d = relu(nn::convolution<Narrow, Narrow, along<Half, 3, halved>>(s / "encoder.2", c));
    using Last = convolved<Half, 3, halved>;
    auto e = relu(nn::convolution<Narrow, Wide, along<Last, 3, kept>>(s / "encoder.3", d));
    auto h0 = s.state<"h", float, Wide>(), c0 = s.state<"c", float, Wide>();
    auto [h, memory] = nn::lstm_cell<Wide, Wide>(s / "rnn")(mean<Last>(e), h0, c0);
    s.update(h0, h);
    s.update(c0, memory);
    return sigmoid(nn::linear<Wide, shape<>>(s / "decoder", relu(h)));
  }
};
}  // namespace small
