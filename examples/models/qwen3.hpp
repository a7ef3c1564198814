// Qwen 3 (Yang et al. 2025) under the names that Hugging Face's transformers gives its parameters.
#pragma once

#include <weft/model.hpp>

namespace models {

struct qwen3_0_6b {
  static constexpr int vocab = 151936, embed = 1024, kv_heads = 8, group = 2, head_dim = 128,
                       hidden = 3072, layers = 28;
};

// At most `Step` tokens in a run, and `Context` in all.
template <class Size, int Step, int Context>
struct qwen3 {
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
    auto x = table.embed(tokens);
    for (int i = 0; i < Size::layers; ++i)
      x = nn::causal_block<axes>(model / "layers" / i, x, at, {.epsilon = 1e-6, .norm_heads = true},
                                 nn::position::rotary({.base = 1000000}));
    auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    auto y = nn::rms_norm<Embed>(model / "norm", last, {.epsilon = 1e-6});
    return weft::results(weft::as<"logits">(table.logits(y)));
  }
};

}  // namespace models
