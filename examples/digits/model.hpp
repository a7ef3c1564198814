// A classifier of small images: two convolutions, then an encoder (Vaswani et al. 2017) whose
// tokens are the places of the second one's result, with a learned position each.
#pragma once

#include <weft/model.hpp>

namespace digits {

struct Batch : weft::axis<weft::up_to<64>> {};
struct Row : weft::axis<8> {};
struct Column : weft::axis<8> {};
struct TapDown : weft::axis<3> {};
struct TapAcross : weft::axis<3> {};
struct Stem : weft::axis<16> {};  // channels of the first convolution
struct Down : weft::axis<4> {};   // places of the second, which has half the resolution
struct Across : weft::axis<4> {};
struct Pos : weft::axis<16> {};  // Down and Across as one
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<48> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<12> {};
struct Hidden : weft::axis<96> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};
struct Class : weft::axis<10> {};

// torch.nn.Conv2d with a padding of 1, of 3 × 3 taps: x [Batch, Rows, Columns, In...] to [Batch,
// OutRows, OutColumns, Out]. Parameters: weight [Out, In..., TapDown, TapAcross], bias [Out].
template <class Rows, class Columns, class OutRows, class OutColumns, class Out, class... In>
constexpr auto convolution(weft::scope s, auto x) {
  constexpr weft::window taps{.stride = Rows::extent / OutRows::extent, .left = 1, .right = 1};
  auto patches = weft::windows<Columns, OutColumns, TapAcross, taps>(
      weft::windows<Rows, OutRows, TapDown, taps>(x));
  constexpr auto init = weft::init::fan_in_uniform<In..., TapDown, TapAcross>();
  return weft::dot<In..., TapDown, TapAcross>(
             patches, s.param<"weight", Out, In..., TapDown, TapAcross>(init)) +
         s.param<"bias", Out>(init);
}

// Results: "loss", the mean of -log p(label) in nats; "logits" [Batch, Class]; "weights" [Batch,
// Pos, Heads, KeyPos], the last layer's attention. Without Positions, tokens have no places.
template <bool Positions = true>
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto image = s.input<"image", float, Batch, Row, Column>();  // 0 to 1
    auto label = s.input<"label", std::int32_t, Batch>();
    auto stem = relu(convolution<Row, Column, Row, Column, Stem>(s / "conv1", image));
    auto places = relu(convolution<Row, Column, Down, Across, Embed, Stem>(s / "conv2", stem));
    auto x = weft::merge<Pos, Down, Across>(places);
    if constexpr (Positions)
      x = x + (s / "positions").param<"weight", Pos, Embed>(weft::init::normal(0, 0.02));
    auto encoded = nn::encoder<axes>(s / "encoder", x, 2, {}, {.norm_first = true, .dropout = 0.1});
    auto logits = nn::linear<Embed, Class>(s / "classes", weft::mean<Pos>(encoded.output));
    auto loss = weft::mean<Batch>(weft::cross_entropy<Class>(logits, label));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits),
                         weft::as<"weights">(encoded.weights));
  }
};

}  // namespace digits
