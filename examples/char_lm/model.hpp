// A decoder-only transformer on bytes: pre-norm, causal, with a learned positional encoding.
#pragma once

#include <weft/weft.hpp>

namespace char_lm {

struct Batch : weft::axis<weft::up_to<16>> {};
struct Pos : weft::axis<weft::up_to<128>> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<256> {};  // a byte
struct Embed : weft::axis<128> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<32> {};
struct Hidden : weft::axis<512> {};

// Radford et al. 2019, section 2.3. Results: "loss", the mean of -log p(target) in nats; "logits"
// [Batch, Pos, Vocab]; "weights" [Batch, Pos, Heads, KeyPos], the last layer's attention.
template <int Layers = 4>
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();

    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens, weft::init::normal(0, 0.02)) +
             nn::learned_positions<Pos, Embed>(s / "positions");
    auto block = [](weft::scope layer, auto before) {
      auto attended = nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(
          layer / "attention", nn::layer_norm<Embed>(layer / "norm1", before),
          nn::causal<Pos, KeyPos>());
      auto between = before + attended.output;
      auto after = between + nn::feed_forward<Embed, Hidden>(
                                 layer, nn::layer_norm<Embed>(layer / "norm2", between));
      return nn::attended{after, attended.weights};
    };
    auto last = block(s / "layers" / 0, x);
    for (int i = 1; i < Layers; ++i) last = block(s / "layers" / i, last.output);

    auto logits = nn::linear<weft::shape<Embed>, weft::shape<Vocab>>(
        s / "head", nn::layer_norm<Embed>(s / "norm", last.output));
    auto loss = weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits),
                         weft::as<"weights">(last.weights));
  }
};

}  // namespace char_lm
