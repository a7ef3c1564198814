// How well a model goes on predicting a text that is longer than what it sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>
#include <weft/run.hpp>

#include "model_file.hpp"

namespace chat {

// The beginning of a text file, long enough for `tokens` tokens; no character is cut. Throws
// weft::error that names the option where the file cannot be read or is empty.
std::string text_of(const std::string& option, const std::string& file, std::size_t tokens);

// What a token sees: `window` tokens up to itself and the `sinks` first ones.
struct seen {
  std::int32_t window, sinks;
};

// The loss of each token but the first, in nats, of a module of chat::windowed from its beginning;
// `tell` gets the number of those done, and the last one.
template <class Model>
std::vector<float> losses_of(weft::module<Model, "losses">& net,
                             std::span<const std::int32_t> tokens, seen what,
                             const std::function<void(std::size_t, float)>& tell = {}) {
  constexpr std::size_t most = Model::Pos::extent;
  std::vector<float> all;
  net.reset();
  while (all.size() + 1 < tokens.size()) {
    const std::size_t count = std::min(most, tokens.size() - 1 - all.size());
    const auto now = tokens.subspan(all.size());
    const auto result =
        net(weft::arg<"tokens">(now.first(count)), weft::arg<"next">(now.subspan(1, count)),
            weft::arg<"window">(what.window), weft::arg<"sinks">(what.sinks));
    const auto losses = result.template get<"losses">();
    for (std::size_t i = 0; i < count; ++i) all.push_back(losses(i));
    if (tell) tell(all.size(), all.back());
  }
  return all;
}

// `count` of these losses from `begin` on, each of a token of which the window - count + 1 to
// `window` tokens before it are all that is known.
template <class Model>
std::vector<float> recomputed_losses(weft::module<Model, "losses">& net,
                                     std::span<const std::int32_t> tokens, std::size_t begin,
                                     std::size_t count, std::size_t window) {
  const auto all = losses_of(net, tokens.subspan(begin + count - window, window + 1),
                             {static_cast<std::int32_t>(window), 0});
  return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

// Prints the losses of SmolLM2-135M over the first 20,000 tokens of a text, where each token sees
// `window` tokens: recomputed, with sinks among them, and without; draws them to the PNG file
// `picture` unless that is empty. Throws weft::error where the text is not longer than the window.
void stream(const std::string& model, const weights& how, const std::string& text,
            std::size_t window, const std::string& picture);

}  // namespace chat
