// BERT (Devlin et al. 2019) under the names that Hugging Face's transformers gives its parameters,
// and the mean of its tokens as that of a sentence (Reimers and Gurevych 2019, section 3).
#pragma once

#include <weft/model.hpp>

namespace models {

namespace nn = weft::nn;

// all-MiniLM-L6-v2
struct minilm_l6 {
  static constexpr int vocab = 30522, positions = 512, kinds = 2, embed = 384, heads = 12,
                       hidden = 1536, layers = 6;
};

// At most `Tokens` tokens of at most `Sentences` sentences in a run, one sentence after another.
// The caller cuts each to Size::positions tokens: there are no positions for more.
template <class Size, int Tokens = Size::positions, int Sentences = 1>
struct bert {
  struct Sentence : weft::axis<weft::up_to<Sentences>> {};
  struct Token : weft::axis<weft::up_to<Tokens>> {};
  struct KeyToken : weft::alias<Token> {};
  struct Pos : weft::axis<Size::positions> {};
  struct Vocab : weft::axis<Size::vocab> {};
  struct Kind : weft::axis<Size::kinds> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Heads : weft::axis<Size::heads> {};
  struct HeadDim : weft::axis<Size::embed / Size::heads> {};
  struct Hidden : weft::axis<Size::hidden> {};

  static constexpr auto norm(weft::scope s, auto x) {
    return nn::layer_norm<Embed>(s / "LayerNorm", x, {.epsilon = 1e-12});
  }
  static constexpr auto embed(weft::scope s, auto tokens, auto positions) {
    auto kinds = (s / "token_type_embeddings").param<"weight", Kind, Embed>();
    auto words = nn::embedding<Vocab, Embed>(s / "word_embeddings", tokens);
    auto places = nn::embedding<Pos, Embed>(s / "position_embeddings", positions);
    return norm(s, words + places + weft::gather<Kind>(kinds, weft::constant(0)));
  }
  static constexpr auto layer(weft::scope s, auto x, auto visible) {
    using Inner = weft::shape<Heads, HeadDim>;
    auto self = s / "attention" / "self", output = s / "attention" / "output";
    auto q = nn::linear<Embed, Inner>(self / "query", x);
    auto k = weft::rename<Token, KeyToken>(nn::linear<Embed, Inner>(self / "key", x));
    auto v = weft::rename<Token, KeyToken>(nn::linear<Embed, Inner>(self / "value", x));
    auto heads = nn::attention<KeyToken>(nn::dot_product_score<HeadDim>(q, k), v, visible).output;
    auto y = norm(output, x + nn::linear<Inner, Embed>(output / "dense", heads));
    auto h = gelu(nn::linear<Embed, Hidden>(s / "intermediate" / "dense", y));
    return norm(s / "output", y + nn::linear<Hidden, Embed>(s / "output" / "dense", h));
  }
  constexpr auto operator()(weft::scope s) const {
    auto begins = s.input<"begins", std::int32_t, Sentence>();  // the first token of each sentence
    auto ends = s.input<"ends", std::int32_t, Sentence>();      // the one after its last
    auto all = nn::segments<Sentence, Token, KeyToken>(begins, ends);
    auto x = embed(s / "embeddings", s.input<"tokens", std::int32_t, Token>(), all.positions);
    for (int i = 0; i < Size::layers; ++i) x = layer(s / "encoder" / "layer" / i, x, all.visible);
    return results(x, all.mean(x));
  }
  static constexpr auto results(auto x, auto mean) {
    auto length = maximum(sqrt(weft::sum<Embed>(mean * mean)), 1e-12f);
    return weft::results(weft::as<"embedding">(mean / length), weft::as<"tokens">(x));
  }
};

}  // namespace models
