// Gemma 3 (Gemma Team 2025), its text model, under the names that Hugging Face's transformers gives
// its parameters: windows in five of six layers, with positions of their own.
#pragma once

#include <weft/model.hpp>

namespace models {

struct gemma3_270m {
  static constexpr int vocab = 262144, embed = 640, kv_heads = 1, group = 4, head_dim = 256,
                       hidden = 2048, layers = 18, window = 512, full_every = 6;
};

// At most `Step` tokens in a run, and `Context` in all.
template <class Size, int Step, int Context>
struct gemma3 {
  struct Pos : weft::axis<weft::between<1, Step>> {};
  struct Cache : weft::axis<weft::up_to<Context>> {};
  struct Vocab : weft::axis<Size::vocab> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Heads : weft::axis<Size::kv_heads> {};  // of keys and values
  struct Group : weft::axis<Size::group> {};     // queries' heads for each of them
  struct HeadDim : weft::axis<Size::head_dim> {};
  struct Hidden : weft::axis<Size::hidden> {};
  struct axes {
    using cache = Cache;
    using embed = Embed;
    using heads = Heads;
    using group = Group;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto model = s / "model";
    auto tokens = s.input<"tokens", std::int32_t, Pos>();
    auto table = nn::tied_embedding<Vocab, Embed>(model / "embed_tokens");
    auto at = nn::decode_state<Pos>(s / "decoding");
    auto x = table.embed(tokens) * sqrt(weft::constant(float{Size::embed}));
    for (int i = 0; i < Size::layers; ++i) {
      const bool full = (i + 1) % Size::full_every == 0;
      const auto window = full ? std::nullopt : std::optional<int>(Size::window);
      x = nn::causal_block<axes>(model / "layers" / i, x, at,
                                 {.epsilon = 1e-6,
                                  .norm_heads = true,
                                  .one_plus_weight = true,
                                  .post_norms = true,
                                  .activation = nn::activation::geglu_tanh,
                                  .window = window},
                                 nn::position::rotary({.base = full ? 1e6 : 1e4}));
    }
    auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    auto gain = (model / "norm").param<"weight", Embed>() + 1.0f;
    return weft::results(
        weft::as<"logits">(table.logits(weft::rms_norm<Embed>(last, gain, {.epsilon = 1e-6}))));
  }
};

}  // namespace models
