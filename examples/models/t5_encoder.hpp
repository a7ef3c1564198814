// T5's encoder (Raffel et al. 2020) under the names that Hugging Face's transformers gives its
// parameters.
#pragma once

#include <weft/model.hpp>

namespace models {

struct t5_small {
  static constexpr int vocab = 32128, embed = 512, heads = 8, head_dim = 64, hidden = 2048,
                       layers = 6;
};

// At most `Tokens` tokens.
template <class Size, int Tokens>
struct t5_encoder {
  struct Pos : weft::axis<weft::up_to<Tokens>> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Vocab : weft::axis<Size::vocab> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Heads : weft::axis<Size::heads> {};
  struct HeadDim : weft::axis<Size::head_dim> {};
  struct Hidden : weft::axis<Size::hidden> {};

  static constexpr auto layer(weft::scope s, auto x, auto distances) {
    namespace nn = weft::nn;
    using Inner = weft::shape<Heads, HeadDim>;
    auto first = s / "layer" / 0, self = first / "SelfAttention", second = s / "layer" / 1,
         mlp = second / "DenseReluDense";
    auto normed = nn::rms_norm<Embed>(first / "layer_norm", x, {.epsilon = 1e-6});
    auto project = [&](auto name) {
      return nn::linear<Embed, Inner>(self / name, normed, {.bias = false});
    };
    auto k = weft::rename<Pos, KeyPos>(project("k")), v = weft::rename<Pos, KeyPos>(project("v"));
    auto q = project("q");
    auto where = nn::positions_in_attention<Pos, KeyPos>(weft::positions<Pos>(), {.scale = 1});
    auto scores = nn::dot_product_score<HeadDim>(q, k, {.scale = 1}) +
                  distances.template scores<weft::shape<Heads>, HeadDim>(s, q, where);
    auto heads = nn::attention<KeyPos>(scores, v).output;
    auto y = x + nn::linear<Inner, Embed>(self / "o", heads, {.bias = false});
    auto h = nn::linear<Embed, Hidden>(
        mlp / "wi", nn::rms_norm<Embed>(second / "layer_norm", y, {.epsilon = 1e-6}),
        {.bias = false});
    return y + nn::linear<Hidden, Embed>(mlp / "wo", relu(h), {.bias = false});
  }
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto blocks = s / "encoder" / "block";
    auto distances = nn::shared(
        blocks / 0 / "layer" / 0 / "SelfAttention" / "relative_attention_bias", nn::position::t5());
    auto x = nn::embedding<Vocab, Embed>(s / "shared", s.input<"tokens", std::int32_t, Pos>());
    for (int i = 0; i < Size::layers; ++i) x = layer(blocks / i, x, distances);
    return weft::results(weft::as<"encoded">(
        nn::rms_norm<Embed>(s / "encoder" / "final_layer_norm", x, {.epsilon = 1e-6})));
  }
};

}  // namespace models
