// What the tests of ranks train: a small model with dropout, whose gradients are several buckets.
#pragma once

#include <cstdint>
#include <weft/model.hpp>
#include <weft/mpi/checkpoint.hpp>

namespace weft::testing {

struct Batch : weft::axis<weft::up_to<16>> {};
struct Pos : weft::axis<weft::up_to<6>> {};
struct Vocab : weft::axis<500> {};
struct Embed : weft::axis<300> {};
struct Hidden : weft::axis<600> {};

// "tokens" [Batch, Pos] say which of the Vocab is next to be expected; "weight" [Pos] is the same
// on all ranks.
struct next_token {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    auto weight = s.input<"weight", float, Pos>();
    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens);
    auto h = weft::gelu(nn::linear<Embed, Hidden>(s / "up", x));
    auto y = nn::linear<Hidden, Embed>(s / "down", weft::dropout(h, 0.1));
    auto logits = nn::linear<Embed, Vocab>(s / "head", x + y);
    return weft::as<"loss">(
        weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets) * weight));
  }
};

struct KeyPos : weft::alias<Pos> {};
struct Heads : weft::axis<3> {};
struct HeadDim : weft::axis<20> {};
struct Width : weft::axis<60> {};
struct Inner : weft::axis<50> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Width;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Inner;
};

// Two layers of causal attention, with learned positions.
struct attending {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x =
        nn::embedding<Vocab, Width>(s / "tokens", s.input<"tokens", std::int32_t, Batch, Pos>()) +
        nn::learned_positions<Pos, Width>(s / "positions");
    auto y = nn::encoder<axes>(s, x, 2, nn::causal<Pos, KeyPos>(), {.norm_first = true});
    return weft::as<"loss">(weft::mean<Batch, Pos, Width>(y.output * y.output));
  }
};

// A scan, whose steps add to the same gradients.
struct recurrent {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x =
        nn::embedding<Vocab, Width>(s / "tokens", s.input<"tokens", std::int32_t, Batch, Pos>());
    auto y = nn::gru<Pos, Width, Inner>(s / "gru", x);
    return weft::as<"loss">(weft::mean<Batch, Pos, Inner>(y.all * y.all));
  }
};

// The same without the hidden layer and dropout, with an activation of the vectors or without.
template <bool Activated>
struct short_next_token {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens);
    auto h = [&] {
      if constexpr (Activated)
        return weft::tanh(x);
      else
        return x;
    }();
    auto logits = nn::linear<Embed, Vocab>(s / "head", h);
    return weft::as<"loss">(weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets)));
  }
};

using plain_next_token = short_next_token<false>;

// Arguments of next_token.
struct batch {
  weft::array<std::int32_t, Batch, Pos> tokens, targets;
  weft::array<float, Pos> weight;
};

// Examples [begin, end) of a step's global batch.
inline batch examples(int step, weft::example_range part, std::size_t length = 5) {
  batch b{weft::array<std::int32_t, Batch, Pos>(part.size(), length),
          weft::array<std::int32_t, Batch, Pos>(part.size(), length),
          weft::array<float, Pos>(length)};
  for (std::size_t i = part.begin; i < part.end; ++i)
    for (std::size_t p = 0; p < length; ++p) {
      const auto n =
          static_cast<std::int32_t>((i * 131 + p * 17 + static_cast<std::size_t>(step) * 7) % 500);
      b.tokens(i - part.begin, p) = n;
      b.targets(i - part.begin, p) = (n * n + 3) % 500;
    }
  for (std::size_t p = 0; p < length; ++p) b.weight(p) = 1 + 0.25f * static_cast<float>(p);
  return b;
}

}  // namespace weft::testing
