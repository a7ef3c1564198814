// Whisper (Radford et al. 2023) under the names that Hugging Face's transformers gives its
// parameters: an encoder of a spectrogram, and a decoder of text.
#pragma once

#include <weft/model.hpp>

namespace models {

struct whisper_tiny {
  static constexpr int mel = 80, frames = 3000, vocab = 51865, positions = 448, embed = 384,
                       heads = 6, layers = 4;
};

template <class Size>
struct whisper {
  struct Mel : weft::axis<Size::mel> {};
  struct Frame : weft::axis<Size::frames> {};
  struct Sound : weft::axis<Size::frames / 2> {};
  struct KeySound : weft::alias<Sound> {};
  struct Heard : weft::axis<weft::up_to<Size::frames / 2>> {};
  struct Vocab : weft::axis<Size::vocab> {};
  struct Place : weft::axis<Size::positions> {};
  struct Cache : weft::axis<weft::up_to<Size::positions>> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Heads : weft::axis<Size::heads> {};
  struct HeadDim : weft::axis<Size::embed / Size::heads> {};
  struct Hidden : weft::axis<4 * Size::embed> {};
  using Inner = weft::shape<Heads, HeadDim>;

  static constexpr auto query(weft::scope s, auto x) {
    return weft::nn::linear<Embed, Inner>(s / "q_proj", x);
  }
  static constexpr auto key(weft::scope s, auto x) {
    return weft::nn::linear<Embed, Inner>(s / "k_proj", x, {.bias = false});
  }
  static constexpr auto value(weft::scope s, auto x) {
    return weft::nn::linear<Embed, Inner>(s / "v_proj", x);
  }
  template <class Keys, class... Mask>
  static constexpr auto attend(weft::scope s, auto q, auto k, auto v, Mask... mask) {
    auto scores = weft::nn::dot_product_score<HeadDim>(q, k);
    return weft::nn::linear<Inner, Embed>(s / "out_proj",
                                          weft::nn::attention<Keys>(scores, v, mask...).output);
  }
  static constexpr auto norm(weft::scope s, auto x) { return weft::nn::layer_norm<Embed>(s, x); }
  static constexpr auto feed_forward(weft::scope s, auto x) {
    auto h = weft::nn::linear<Embed, Hidden>(s / "fc1", norm(s / "final_layer_norm", x));
    return x + weft::nn::linear<Hidden, Embed>(s / "fc2", gelu(h));
  }

  struct encoder {
    constexpr auto operator()(weft::scope s) const {
      namespace nn = weft::nn;
      auto e = s / "model" / "encoder";
      auto mel = s.input<"mel", float, Mel, Frame>();
      constexpr weft::window same{.left = 1, .right = 1}, half{.stride = 2, .left = 1, .right = 1};
      auto y = gelu(nn::convolution<Mel, Embed, nn::along<Frame, 3, same>>(e / "conv1", mel));
      auto z = gelu(nn::convolution<Embed, Embed, nn::along<Frame, 3, half>>(e / "conv2", y));
      auto x = weft::rename<nn::convolved<Frame, 3, half>, Sound>(z) +
               (e / "embed_positions").param<"weight", Sound, Embed>();
      for (int i = 0; i < Size::layers; ++i) {
        auto layer = e / "layers" / i, self = layer / "self_attn";
        auto from = norm(layer / "self_attn_layer_norm", x);
        auto k = weft::rename<Sound, KeySound>(key(self, from));
        auto v = weft::rename<Sound, KeySound>(value(self, from));
        x = feed_forward(layer, x + attend<KeySound>(self, query(self, from), k, v));
      }
      return weft::results(weft::as<"encoded">(norm(e / "layer_norm", x)));
    }
  };

  // At most `Step` tokens in a run. `encoded` is the encoder's result in the first run, and empty
  // in those after it, which have its keys and values in their cache.
  template <int Step>
  struct decoder {
    struct Pos : weft::axis<weft::between<1, Step>> {};
    constexpr auto operator()(weft::scope s) const {
      namespace nn = weft::nn;
      auto d = s / "model" / "decoder";
      auto encoded = s.input<"encoded", float, Heard, Embed>();
      auto at = nn::decode_state<Pos>(s / "decoding");
      auto heard = nn::decode_state<Heard>(s / "hearing");
      auto table = nn::tied_embedding<Vocab, Embed>(d / "embed_tokens");
      auto x = table.embed(s.input<"tokens", std::int32_t, Pos>()) +
               nn::embedding<Place, Embed>(d / "embed_positions", nn::position_ids(at));
      for (int i = 0; i < Size::layers; ++i) {
        auto layer = d / "layers" / i, self = layer / "self_attn", cross = layer / "encoder_attn";
        auto from = norm(layer / "self_attn_layer_norm", x);
        auto past = nn::kv_cache<Cache>(self, at, key(self, from), value(self, from));
        auto y = x + attend<Cache>(self, query(self, from), past.keys, past.values,
                                   nn::causal_cache_mask<Cache>(at));
        auto q = query(cross, norm(layer / "encoder_attn_layer_norm", y));
        auto k = key(cross, encoded), v = value(cross, encoded);
        auto sound = nn::kv_cache<Sound>(cross, heard, k, v);
        x = feed_forward(layer, y + attend<Sound>(cross, q, sound.keys, sound.values));
      }
      auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
      return weft::results(weft::as<"logits">(table.logits(norm(d / "layer_norm", last))));
    }
  };
};

}  // namespace models
