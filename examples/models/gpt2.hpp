// GPT-2 (Radford et al. 2019) under the names that Hugging Face's transformers gives its
// parameters.
#pragma once

#include <weft/model.hpp>

namespace models {

struct gpt2_small {
  static constexpr int vocab = 50257, positions = 1024, embed = 768, heads = 12, layers = 12;
};

// At most `Step` tokens in a run.
template <class Size, int Step>
struct gpt2 {
  struct Pos : weft::axis<weft::between<1, Step>> {};
  struct Cache : weft::axis<weft::up_to<Size::positions>> {};
  struct Place : weft::axis<Size::positions> {};
  struct Vocab : weft::axis<Size::vocab> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Part : weft::axis<3> {};  // queries, keys, values
  struct Heads : weft::axis<Size::heads> {};
  struct HeadDim : weft::axis<Size::embed / Size::heads> {};
  struct Hidden : weft::axis<4 * Size::embed> {};

  // Weights are [in, out] here: the transpose of torch.nn.Linear's.
  template <class... In, class... Out>
  static constexpr auto project(weft::scope s, auto x, weft::shape<In...>, weft::shape<Out...>) {
    return weft::dot<In...>(x, s.param<"weight", In..., Out...>()) + s.param<"bias", Out...>();
  }
  static constexpr auto layer(weft::scope s, auto x, auto at) {
    namespace nn = weft::nn;
    using In = weft::shape<Embed>;
    auto norm = [&](auto name, auto y) { return nn::layer_norm<Embed>(s / name, y); };
    auto both =
        project(s / "attn" / "c_attn", norm("ln_1", x), In{}, weft::shape<Part, Heads, HeadDim>{});
    auto part = [&](int i) { return weft::gather<Part>(both, weft::constant(i)); };
    auto past = nn::kv_cache<Cache>(s / "cache", at, part(1), part(2));
    auto heads = nn::attention<Cache>(nn::dot_product_score<HeadDim>(part(0), past.keys),
                                      past.values, nn::causal_cache_mask<Cache>(at))
                     .output;
    auto y = x + project(s / "attn" / "c_proj", heads, weft::shape<Heads, HeadDim>{}, In{});
    auto h = project(s / "mlp" / "c_fc", norm("ln_2", y), In{}, weft::shape<Hidden>{});
    return y + project(s / "mlp" / "c_proj", gelu_tanh(h), weft::shape<Hidden>{}, In{});
  }
  constexpr auto operator()(weft::scope s) const {
    auto t = s / "transformer";
    auto at = weft::nn::decode_state<Pos>(s / "decoding");
    auto table = weft::nn::tied_embedding<Vocab, Embed>(t / "wte");
    auto x = table.embed(s.input<"tokens", std::int32_t, Pos>()) +
             weft::nn::embedding<Place, Embed>(t / "wpe", weft::nn::position_ids(at));
    for (int i = 0; i < Size::layers; ++i) x = layer(t / "h" / i, x, at);
    auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    return weft::results(
        weft::as<"logits">(table.logits(weft::nn::layer_norm<Embed>(t / "ln_f", last))));
  }
};

}  // namespace models
