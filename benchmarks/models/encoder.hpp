// An encoder layer.
#pragma once

#include <weft/model.hpp>

namespace bench {

// Vaswani et al. 2017, figure 1, left: post-norm; GELU by erf, no mask.
template <int Texts, int N, int Numbers, int HeadCount, int Wide>
struct encoder {
  struct Batch : weft::axis<Texts> {};
  struct Pos : weft::axis<N> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Embed : weft::axis<Numbers> {};
  struct Heads : weft::axis<HeadCount> {};
  struct HeadDim : weft::axis<Numbers / HeadCount> {};
  struct Hidden : weft::axis<Wide> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };

  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    return weft::nn::encoder_block<axes>(s, x).output;
  }
};

// Small enough for generated code.
using tiny32 = encoder<1, 16, 32, 2, 64>;
using tiny16 = encoder<1, 8, 16, 1, 32>;

}  // namespace bench
