// A transformer that is large enough for its instructions to be partitioned among threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weft/weft.hpp"

namespace writer {

struct Batch : weft::axis<weft::up_to<8>> {};
struct Pos : weft::axis<weft::up_to<96>> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<96> {};
struct Embed : weft::axis<100> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};
struct Hidden : weft::axis<256> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

// Results: "loss"; "logits" [Batch, Pos, Vocab].
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens) +
             nn::learned_positions<Pos, Embed>(s / "positions");
    auto block = nn::encoder_block<axes>(s, x, nn::causal<Pos, KeyPos>());
    auto logits = nn::linear<Embed, Vocab>(s / "head", block.output);
    auto loss = weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets));
    return weft::results(weft::as<"loss">(loss), weft::as<"logits">(logits));
  }
};

// Token sequences with a long period.
struct texts {
  weft::array<std::int32_t, Batch, Pos> x, y;

  texts(std::size_t batch, std::size_t length) : x(batch, length), y(batch, length) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < length; ++p) {
        x(b, p) = token(b * length + p);
        y(b, p) = token(b * length + p + 1);
      }
  }
  static std::int32_t token(std::size_t i) {
    return static_cast<std::int32_t>((i * i + 7 * i) % Vocab::extent);
  }
};

}  // namespace writer
