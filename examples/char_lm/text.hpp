// A model of bytes and a text: windows to train on, the loss on a text, and sampling.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/run.hpp>

#include "char_lm/model.hpp"

namespace char_lm {

template <class Net>
using tokens = weft::array<std::int32_t, typename Net::Batch, typename Net::Pos>;

// A batch of windows of a text: the bytes, and for each byte the next one as its target.
template <class Net>
struct windows {
  tokens<Net> in, target;
  windows(std::size_t batch, std::size_t length) : in(batch, length), target(batch, length) {}

  void set(std::size_t b, std::span<const std::int32_t> text, std::size_t at) {
    for (std::size_t p = 0; p < in.template length<typename Net::Pos>(); ++p) {
      in(b, p) = text[at + p];
      target(b, p) = text[at + p + 1];
    }
  }
};

// The mean loss over a text without its first byte, in consecutive windows; the last is shorter.
template <class Net>
double loss(weft::module<Net, "loss">& model, std::span<const std::int32_t> text) {
  constexpr std::size_t most = Net::Batch::extent, window = Net::Pos::extent;
  double sum = 0;
  const auto add = [&](std::size_t at, std::size_t batch, std::size_t length) {
    windows<Net> w(batch, length);
    for (std::size_t b = 0; b < batch; ++b) w.set(b, text, at + b * length);
    const float mean =
        model(weft::arg<"tokens">(w.in), weft::arg<"targets">(w.target)).template get<"loss">()();
    sum += static_cast<double>(mean) * static_cast<double>(batch * length);
  };
  std::size_t at = 0;
  const std::size_t end = text.size() - 1;
  for (std::size_t batch = most; batch > 0; batch = batch > 1 ? 1 : 0)
    for (; at + batch * window <= end; at += batch * window) add(at, batch, window);
  if (at < end) add(at, 1, end - at);
  return sum / static_cast<double>(end);
}

// A byte from softmax(logits / temperature), given the last Pos bytes of a text that is not empty.
template <class Net>
char next_byte(weft::module<Net, "logits">& model, std::string_view text, double temperature,
               std::mt19937_64& random) {
  using Batch = typename Net::Batch;
  using Pos = typename Net::Pos;
  constexpr std::size_t bytes = Net::Vocab::extent;
  text = text.substr(text.size() - std::min<std::size_t>(text.size(), Pos::extent));
  tokens<Net> in(1, text.size());
  for (std::size_t p = 0; p < text.size(); ++p) in(0, p) = static_cast<unsigned char>(text[p]);
  const auto logits = model(weft::arg<"tokens">(in))
                          .template get<"logits">()
                          .template at<Batch>(0)
                          .template at<Pos>(text.size() - 1);
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < bytes; ++v)
    greatest = std::max(greatest, static_cast<double>(logits(v)));
  std::vector<double> weight(bytes);
  for (std::size_t v = 0; v < bytes; ++v)
    weight[v] = std::exp((static_cast<double>(logits(v)) - greatest) / temperature);
  return static_cast<char>(std::discrete_distribution<int>(weight.begin(), weight.end())(random));
}

// How the model is trained, for a number of steps.
inline weft::adamw optimizer(double learning_rate) {
  return {.learning_rate = learning_rate, .beta2 = 0.99, .weight_decay = 0.1};
}
inline weft::training_options training(long steps, std::uint64_t seed) {
  return {.clip_norm = 1,
          .schedule = weft::warmup_cosine{.warmup = 50, .total = steps, .floor = 0.05},
          .groups = {{.pattern = "*bias", .decay = 0}, {.pattern = "*norm*", .decay = 0}},
          .seed = seed};
}

}  // namespace char_lm
