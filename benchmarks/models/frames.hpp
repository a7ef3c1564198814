// Models that take a signal frame by frame: a detector of speech, and a transformer that attends to
// a window.
#pragma once

#include <cmath>
#include <weft/model.hpp>

namespace frames {

struct Sample : weft::axis<512> {};
struct Context : weft::axis<64> {};
struct Both : weft::axis<576> {};
struct Heard : weft::alias<Both> {};
struct One : weft::axis<1> {};
struct Waves : weft::axis<258> {};
struct Bins : weft::axis<129> {};
struct Wide : weft::axis<128> {};
struct Narrow : weft::axis<64> {};

// In the manner of Silero's: a Fourier transform as a convolution, whose weights are learned here,
// magnitudes, four convolutions, an LSTM, a probability.
struct detector {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft::nn;
    using weft::shape;
    const auto x = s.input<"x", float, Sample>();
    const auto context = s.state<"context", float, Context>();
    const auto heard =
        weft::split<Both, Heard, One>(weft::concatenate<Both, shape<Context, Sample>>(context, x));
    s.update(context, weft::slice<Sample, Context, 448>(x));
    constexpr weft::window hop{.stride = 64};
    const auto waves = convolution<One, Waves, along<Heard, 256, hop>>(s / "stft", heard);
    using T = convolved<Heard, 256, hop>;
    const auto re = weft::slice<Waves, Bins>(waves), im = weft::slice<Waves, Bins, 129>(waves);
    constexpr weft::window same{.left = 1, .right = 1}, half{.stride = 2, .left = 1, .right = 1};
    using Half = convolved<T, 3, half>;
    using Quarter = convolved<Half, 3, half>;
    const auto a = weft::relu(convolution<Bins, Wide, along<T, 3, same>>(
        s / "a", weft::sqrt(re * re + im * im + 1e-12f)));
    const auto b = weft::relu(convolution<Wide, Narrow, along<T, 3, half>>(s / "b", a));
    const auto c = weft::relu(convolution<Narrow, Narrow, along<Half, 3, half>>(s / "c", b));
    const auto d = weft::max<Quarter>(
        weft::relu(convolution<Narrow, Wide, along<Quarter, 3, same>>(s / "d", c)));
    const auto h = s.state<"h", float, Wide>(), cell = s.state<"c", float, Wide>();
    const auto [next_h, next_cell] = lstm_cell<Wide, Wide>(s / "lstm")(d, h, cell);
    s.update(h, next_h);
    s.update(cell, next_cell);
    return weft::sigmoid(linear<Wide, One>(s / "head", weft::relu(next_h)));
  }
};

struct Frame : weft::axis<1> {};
struct Window : weft::axis<100> {};
struct Older : weft::axis<99> {};
struct Embed : weft::axis<64> {};
struct Heads : weft::axis<4> {};
struct Dim : weft::axis<16> {};
struct Hidden : weft::axis<128> {};
struct Mixed : weft::alias<Embed> {};

// Each frame attends to itself and the 99 before it.
struct windowed {
  static constexpr auto layer(weft::scope s, const auto& x, const auto& seen) {
    const auto normal = weft::nn::layer_norm<Embed>(s / "norm1", x);
    const auto project = [&](auto name) {
      return weft::split<Mixed, Heads, Dim>(weft::nn::linear<Embed, Mixed>(s / name, normal));
    };
    const auto kept = [&](weft::scope at, const auto& now) {
      const auto past = at.state<"past", float, Window, Heads, Dim>();
      const auto all = weft::concatenate<Window, weft::shape<Older, Frame>>(
          weft::slice<Window, Older, 1>(past), now);
      at.update(past, all);
      return all;
    };
    const auto keys = kept(s / "keys", project("k")), values = kept(s / "values", project("v"));
    const auto scores = weft::dot<Dim>(project("q"), keys) * 0.25;
    const auto mixed =
        weft::dot<Window>(weft::softmax<Window>(weft::where(seen, scores, -INFINITY)), values);
    const auto y =
        x + weft::nn::linear<Mixed, Embed>(s / "o", weft::merge<Mixed, Heads, Dim>(mixed));
    const auto wide =
        weft::nn::linear<Embed, Hidden>(s / "up", weft::nn::layer_norm<Embed>(s / "norm2", y));
    return y + weft::nn::linear<Hidden, Embed>(s / "down", weft::gelu(wide));
  }

  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Frame, Embed>();
    const auto count = s.state<"count", std::int32_t>();
    const auto now = weft::minimum(count + 1, 100);
    s.update(count, now);
    const auto seen = weft::positions<Window>() >= 100 - now;
    return layer(s / "second", layer(s / "first", x, seen), seen);
  }
};

}  // namespace frames
