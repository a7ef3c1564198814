// torch.nn.TransformerEncoderLayer in weft, as tests/golden/make_golden.py sets it up: post-norm,
// no dropout, awkward extents. The input is a parameter, to have its gradient too.
#pragma once

#include "weft/weft.hpp"

namespace weft::golden {

struct Batch : axis<2> {};
struct Pos : axis<7> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<20> {};
struct Heads : axis<5> {};
struct HeadDim : axis<4> {};
struct Hidden : axis<33> {};

struct encoder_layer {
  constexpr auto operator()(scope s) const {
    auto const x = s.param<"x", Batch, Pos, Embed>();
    auto const cotangent = s.input<"cotangent", float, Batch, Pos, Embed>();
    auto const everything = positions<KeyPos>() >= 0;
    auto const attended =
        nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s / "attention", x, everything);
    auto const between = nn::layer_norm<Embed>(s / "norm1", x + attended.output);
    auto const fed = nn::feed_forward<Embed, Hidden>(s, between);
    auto const y = nn::layer_norm<Embed>(s / "norm2", between + fed);
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * cotangent)), as<"y">(y));
  }
};

}  // namespace weft::golden
