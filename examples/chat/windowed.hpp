// Llama that sees a window of tokens: for conversations and texts of any length, in memory that
// stays the same.
#pragma once

#include <models/llama.hpp>

namespace chat {

// At most `Step` tokens in a run. A token sees the `window` ones up to itself, at most Window, and
// the first `sinks`, at most Sinks, which move along (Xiao et al. 2024, "Efficient streaming
// language models with attention sinks"). Parameters are those of models::llama.
template <class Size, int Step, int Window, int Sinks>
struct windowed : models::llama<Size, Step, Window, weft::rotary_pairs::interleaved> {
  using whole = models::llama<Size, Step, Window, weft::rotary_pairs::interleaved>;
  using typename whole::Embed, typename whole::Pos, typename whole::Vocab;
  struct Recent : weft::nn::rolling<Pos, Window, Sinks> {};
  struct axes : whole::axes {
    using cache = Recent;
  };

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto model = s / "model";
    auto tokens = s.input<"tokens", std::int32_t, Pos>();
    auto table = nn::tied_embedding<Vocab, Embed>(model / "embed_tokens");
    auto at = nn::rolling_state<Recent>(
        s / "decoding",
        nn::rolling_options{s.input<"window", std::int32_t>(), s.input<"sinks", std::int32_t>()});
    auto x = table.embed(tokens);
    for (int i = 0; i < Size::layers; ++i)
      x = nn::causal_block<axes>(
          model / "layers" / i, x, at, {.epsilon = Size::epsilon},
          nn::position::rotary<weft::rotary_pairs::interleaved>(Size::rotary));
    auto y = nn::rms_norm<Embed>(model / "norm", x, {.epsilon = Size::epsilon});
    auto last = weft::gather<Pos>(y, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    // The losses of the tokens that follow each.
    auto next = s.input<"next", std::int32_t, Pos>();
    return weft::results(weft::as<"logits">(table.logits(last)),
                         weft::as<"losses">(weft::cross_entropy<Vocab>(table.logits(y), next)));
  }
};

}  // namespace chat
