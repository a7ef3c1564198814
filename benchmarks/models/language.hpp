// A decoder-only language model.
#pragma once

#include <weft/weft.hpp>

#include <cstdint>

namespace bench {

// Radford et al. 2019, section 2.3: pre-norm, causal, learned positions.
template <int Layers>
struct language_model {
  struct Batch : weft::axis<8> {};
  struct Pos : weft::axis<128> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Vocab : weft::axis<96> {};
  struct Embed : weft::axis<128> {};
  struct Heads : weft::axis<4> {};
  struct HeadDim : weft::axis<32> {};
  struct Hidden : weft::axis<512> {};

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens) +
             nn::learned_positions<Pos, Embed>(s / "positions");
    auto block = [](weft::scope layer, auto before) {
      auto attended = nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(
          layer / "attention", nn::layer_norm<Embed>(layer / "norm1", before),
          nn::causal<Pos, KeyPos>());
      auto between = before + attended.output;
      return between + nn::feed_forward<Embed, Hidden>(
                           layer, nn::layer_norm<Embed>(layer / "norm2", between));
    };
    auto last = block(s / "layers" / 0, x);
    for (int i = 1; i < Layers; ++i) last = block(s / "layers" / i, last);
    auto logits = nn::linear<weft::shape<Embed>, weft::shape<Vocab>>(
        s / "head", nn::layer_norm<Embed>(s / "norm", last));
    auto loss = weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits));
  }
};

}  // namespace bench
