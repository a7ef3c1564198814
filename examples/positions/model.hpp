// A small transformer that reads a text and predicts a character at each position.
#pragma once

#include <weft/model.hpp>

namespace positions {

struct Batch : weft::axis<weft::up_to<32>> {};
struct Pos : weft::axis<weft::up_to<128>> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<256> {};  // a byte
struct Embed : weft::axis<64> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<16> {};
struct Hidden : weft::axis<128> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

// Pre-norm as in Radford et al. 2019, section 2.3, with the position encoding that Encoding makes.
// The number of visible keys per position is an input, so that one model is an encoder or a
// decoder, depending on the task. The norm is RMSNorm, since layer_norm subtracts the mean of a
// vector, and an index is the same value in all of its elements.
//
// Results: "loss", the mean of -log p(target) in nats, and "accuracy", the fraction of targets that
// are the most likely, both over the positions with a target; "added" [Batch, Pos, Embed], what the
// encoding adds to the embeddings.
template <class Encoding>
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();  // 0: no target
    auto visible = s.input<"visible", std::int32_t, Pos>();         // number of visible keys

    auto encoding = Encoding{}(s / "position");
    auto embedded = nn::embedding<Vocab, Embed>(s / "tokens", tokens);
    auto x = nn::add_positions<Pos, Embed>(s / "position", embedded, encoding);
    auto y = nn::encoder<axes>(
        s, x, 2, visible, {.norm_first = true, .normalization = nn::normalization::rms}, encoding);
    auto logits = nn::linear<Embed, Vocab>(s / "head", y.output);

    auto asked = weft::cast<float>(targets > 0);
    auto mean = [&](const auto& x) {
      return weft::sum<Batch, Pos>(x * asked) / weft::sum<Batch, Pos>(asked);
    };
    auto right = weft::gather<Vocab>(logits, targets) >= weft::max<Vocab>(logits);
    return weft::results(weft::as<"loss">(mean(weft::cross_entropy<Vocab>(logits, targets))),
                         weft::as<"accuracy">(mean(weft::cast<float>(right))),
                         weft::as<"added">(x - embedded));
  }
};

}  // namespace positions
