// A decoder-only transformer on bytes: pre-norm, causal, with a learned positional encoding.
#pragma once

#include <weft/model.hpp>

namespace char_lm {

struct Batch : weft::axis<weft::up_to<16>> {};
struct Pos : weft::axis<weft::up_to<128>> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<256> {};  // a byte
struct Embed : weft::axis<128> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<32> {};
struct Hidden : weft::axis<512> {};

struct axes {
  using Batch = char_lm::Batch;
  using Pos = char_lm::Pos;
  using KeyPos = char_lm::KeyPos;
  using Vocab = char_lm::Vocab;
  using Embed = char_lm::Embed;
  using Heads = char_lm::Heads;
  using HeadDim = char_lm::HeadDim;
  using Hidden = char_lm::Hidden;
};

// Radford et al. 2019, section 2.3. Results: "loss", the mean of -log p(target) in nats; "logits"
// [Batch, Pos, Vocab]; "weights" [Batch, Pos, Heads, KeyPos], the last layer's attention.
template <int Layers = 2, class Axes = axes>
struct model : Axes {
  using typename Axes::Batch, typename Axes::Pos, typename Axes::KeyPos, typename Axes::Vocab,
      typename Axes::Embed, typename Axes::Heads, typename Axes::HeadDim, typename Axes::Hidden;
  struct roles {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();

    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens, weft::init::normal(0, 0.02)) +
             nn::learned_positions<Pos, Embed>(s / "positions");
    auto y = nn::encoder<roles>(s, x, Layers, nn::causal<Pos, KeyPos>(), {.norm_first = true});
    auto logits = nn::linear<Embed, Vocab>(s / "head", y.output);
    auto loss = weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits),
                         weft::as<"weights">(y.weights));
  }
};

}  // namespace char_lm
