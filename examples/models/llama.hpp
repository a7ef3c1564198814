// Llama (Touvron et al. 2023) and models of its form, such as SmolLM2, under the names that Hugging
// Face's transformers gives their parameters.
#pragma once

#include <weft/model.hpp>

namespace models {

struct smollm2_135m {
  static constexpr int vocab = 49152, embed = 576, kv_heads = 3, group = 3, head_dim = 64,
                       hidden = 1536, layers = 30;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{.base = 100000};
};
struct llama3_2_1b {
  static constexpr int vocab = 128256, embed = 2048, kv_heads = 8, group = 4, head_dim = 64,
                       hidden = 8192, layers = 16;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{
      .base = 500000, .scaling = weft::nn::llama3_scaling({.factor = 32, .trained = 8192})};
};

// At most `Step` tokens in a run, and `Context` in all. Pairs are half_split in transformers'
// files, interleaved in GGUF files.
template <class Size, int Step, int Context,
          weft::rotary_pairs Pairs = weft::rotary_pairs::half_split>
struct llama {
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
      x = nn::causal_block<axes>(model / "layers" / i, x, at, {.epsilon = Size::epsilon},
                                 nn::position::rotary<Pairs>(Size::rotary));
    // The logits of the last token alone: the others' would be most of a prompt's time.
    auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    auto y = nn::rms_norm<Embed>(model / "norm", last, {.epsilon = Size::epsilon});
    return weft::results(weft::as<"logits">(table.logits(y)));
  }
};

}  // namespace models
