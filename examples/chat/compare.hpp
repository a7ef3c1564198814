// What it costs in quality to keep a model's weights in fewer bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <weft/run.hpp>
#include <weft/run/mixed.hpp>

#include "model_file.hpp"

namespace chat {

// Llama whose blocks' outputs are results, beside the logarithms of all tokens' probabilities.
template <class Size, int Step, int Context>
struct reference : models::llama<Size, Step, Context, weft::rotary_pairs::interleaved> {
  using whole = models::llama<Size, Step, Context, weft::rotary_pairs::interleaved>;
  using typename whole::Embed, typename whole::Pos, typename whole::Vocab;
  struct Block : weft::axis<Size::layers> {};

  // log p, where each(output, i) of block i is what the next one reads.
  static constexpr auto run(weft::scope s, auto each) {
    namespace nn = weft::nn;
    auto model = s / "model";
    auto table = nn::tied_embedding<Vocab, Embed>(model / "embed_tokens");
    auto at = nn::decode_state<Pos>(s / "decoding");
    auto x = table.embed(s.input<"tokens", std::int32_t, Pos>());
    for (int i = 0; i < Size::layers; ++i)
      x = each(nn::causal_block<typename whole::axes>(
                   model / "layers" / i, x, at, {.epsilon = Size::epsilon},
                   nn::position::rotary<weft::rotary_pairs::interleaved>(Size::rotary)),
               i);
    auto y = nn::rms_norm<Embed>(model / "norm", x, {.epsilon = Size::epsilon});
    return weft::log_softmax<Vocab>(table.logits(y));
  }
  // Sets what `all` has of block i; the first sets all of it.
  static constexpr void put(auto& all, int i, auto x) {
    const auto here = weft::cast<float>(weft::positions<Block>() == i) * x;
    all = i == 0 ? here : all + here;
  }
  constexpr auto operator()(weft::scope s) const {
    weft::tensor<float, weft::shape<Block, Pos, Embed>> blocks{};
    auto log_p = run(s, [&](auto x, int i) {
      put(blocks, i, x);
      return x;
    });
    return weft::results(weft::as<"blocks">(blocks), weft::as<"log_p">(log_p));
  }
};

// The same, beside a reference whose results it takes as inputs.
template <class Size, int Step, int Context>
struct judged : reference<Size, Step, Context> {
  using base = reference<Size, Step, Context>;
  using typename base::Block, typename base::Embed, typename base::Pos, typename base::Vocab;

  constexpr auto operator()(weft::scope s) const {
    auto blocks = s.input<"blocks", float, Block, Pos, Embed>();
    auto log_p = s.input<"log_p", float, Pos, Vocab>();
    // Whether each block reads the reference's output of the one before it.
    auto alone = s.input<"alone", std::int32_t>() != 0;
    weft::tensor<float, weft::shape<Block, Pos>> off{};
    auto log_q = base::run(s, [&](auto x, int i) {
      auto right = weft::gather<Block>(blocks, weft::constant(i));
      auto length = [](auto y) { return sqrt(weft::sum<Embed>(y * y)); };
      base::put(off, i, length(x - right) / length(right));
      return weft::where(alone, right, x);
    });
    auto next = s.input<"next", std::int32_t, Pos>();
    auto same = weft::argmax<Vocab>(log_p) == weft::argmax<Vocab>(log_q);
    return weft::results(weft::as<"off">(off), weft::as<"loss">(-weft::gather<Vocab>(log_q, next)),
                         weft::as<"divergence">(weft::sum<Vocab>(exp(log_p) * (log_p - log_q))),
                         weft::as<"same">(weft::cast<float>(same)));
  }
};

// Means over the tokens of a text.
struct scores {
  double loss = 0, divergence = 0, same = 0;  // the last is a share
  // Of each block's output, its distance from the reference's, relative to that one's length: after
  // all blocks before it; and where it reads the reference's output of the one before it, over the
  // first `context` tokens. The first block's includes the embedding.
  std::vector<double> off, off_alone;
};

// Predicts each token but the first from those before it, `context` tokens at a time. `alone`
// shares the weights of `net`.
template <class Reference, class Judged>
scores compare(weft::module<Reference>& right, weft::module<Judged>& net,
               weft::module<Judged>& alone, std::span<const std::int32_t> tokens) {
  constexpr std::size_t most = Judged::Pos::extent, context = Judged::Cache::extent,
                        blocks = Judged::Block::extent;
  const std::size_t size = tokens.size() - 1;
  scores all;
  all.off.resize(blocks), all.off_alone.resize(blocks);
  const auto add = [](double& to, float x, std::size_t of) {
    to += static_cast<double>(x) / static_cast<double>(of);
  };
  for (std::size_t done = 0, count; done < size; done += count) {
    if (done % context == 0) right.reset(), net.reset(), alone.reset();
    count = std::min({most, size - done, context - done % context});
    const auto now = weft::arg<"tokens">(tokens.subspan(done, count));
    const auto expected = right(now);
    const auto run = [&](weft::module<Judged>& one, std::int32_t is_alone) {
      return one(now, weft::arg<"next">(tokens.subspan(done + 1, count)),
                 weft::arg<"blocks">(expected.template get<"blocks">()),
                 weft::arg<"log_p">(expected.template get<"log_p">()),
                 weft::arg<"alone">(is_alone));
    };
    const auto result = run(net, 0);
    for (std::size_t i = 0; i < count; ++i) {
      add(all.loss, result.template get<"loss">()(i), size);
      add(all.divergence, result.template get<"divergence">()(i), size);
      add(all.same, result.template get<"same">()(i), size);
      for (std::size_t b = 0; b < blocks; ++b)
        add(all.off[b], result.template get<"off">()(b, i), size);
    }
    if (done >= context) continue;
    const auto off = run(alone, 1).template get<"off">();
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t b = 0; b < blocks; ++b)
        add(all.off_alone[b], off(b, i), std::min(size, context));
  }
  return all;
}

// Prints the scores of SmolLM2-135M beside its file's weights in float32, over the first 5,000
// tokens of a text: in other precisions, in q4_0 but for those whose names match a pattern of
// `wide`, as the file has them if it is quantised, and as other files of the model have them.
// Throws weft::error where a file is not the model's, or the text has fewer than two tokens.
void compare(const std::string& model, const weft::executor& threads, const std::string& text,
             const std::vector<std::string>& others, const std::vector<std::string>& wide);

}  // namespace chat
