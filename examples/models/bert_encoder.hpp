// The same BERT through nn::encoder, whose parameters have the names of PyTorch's encoder: a file
// of Hugging Face's transformers is read by names_in_file, which joins query, key and value.
#pragma once

#include <models/bert.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace models {

// weft::module<model> net(weft::weights("model.safetensors", {.joined_in_file =
// model::names_in_file}))
template <class Size, int Tokens = Size::positions, int Sentences = 1>
struct bert_encoder : bert<Size, Tokens, Sentences> {
  using base = bert<Size, Tokens, Sentences>;
  using Token = typename base::Token;
  using KeyToken = typename base::KeyToken;
  using Sentence = typename base::Sentence;
  struct axes {
    using positions = Token;
    using keys = KeyToken;
    using embed = typename base::Embed;
    using heads = typename base::Heads;
    using head_dim = typename base::HeadDim;
    using hidden = typename base::Hidden;
  };

  constexpr auto operator()(weft::scope s) const {
    auto begins = s.input<"begins", std::int32_t, Sentence>();
    auto ends = s.input<"ends", std::int32_t, Sentence>();
    auto all = nn::segments<Sentence, Token, KeyToken>(begins, ends);
    auto x = base::embed(s / "embeddings", s.input<"tokens", std::int32_t, Token>(), all.positions);
    auto y = nn::encoder<axes>(s / "encoder", x, Size::layers, all.visible,
                               {.epsilon = 1e-12, .final_norm = false});
    return base::results(y.output, all.mean(y.output));
  }

  static std::vector<std::string> names_in_file(std::string name) {
    const auto replace = [&](std::string_view from, std::string_view to) {
      if (auto at = name.find(from); at != name.npos) name.replace(at, from.size(), to);
    };
    replace("layers.", "layer.");
    replace("self_attn.out_proj", "attention.output.dense");
    replace("norm1", "attention.output.LayerNorm");
    replace("norm2", "output.LayerNorm");
    replace("linear1", "intermediate.dense");
    replace("linear2", "output.dense");
    const std::string_view joined = "self_attn.in_proj_";
    const auto at = name.find(joined);
    if (at == name.npos) return {name};
    std::vector<std::string> parts;
    for (const std::string part : {"query.", "key.", "value."})
      parts.push_back(name.substr(0, at) + "attention.self." + part +
                      name.substr(at + joined.size()));
    return parts;
  }
};

}  // namespace models
