// The vision transformer (Dosovitskiy et al. 2021) under the names that Hugging Face's transformers
// gives its parameters.
#pragma once

#include <weft/model.hpp>

namespace models {

struct vit_base {
  static constexpr int image = 224, patch = 16, channels = 3, embed = 768, heads = 12,
                       hidden = 3072, layers = 12, classes = 1000;
};

// At most `Images` images in a run.
template <class Size, int Images = 1>
struct vit {
  static constexpr int side = Size::image / Size::patch;
  struct Image : weft::axis<weft::up_to<Images>> {};
  struct Channel : weft::axis<Size::channels> {};
  struct Row : weft::axis<Size::image> {};
  struct Column : weft::axis<Size::image> {};
  struct Down : weft::axis<side> {};
  struct Across : weft::axis<side> {};
  struct InDown : weft::axis<Size::patch> {};  // within a patch
  struct InAcross : weft::axis<Size::patch> {};
  struct Patch : weft::axis<side * side> {};
  struct First : weft::axis<1> {};
  struct Token : weft::axis<side * side + 1> {};
  struct KeyToken : weft::alias<Token> {};
  struct Embed : weft::axis<Size::embed> {};
  struct Heads : weft::axis<Size::heads> {};
  struct HeadDim : weft::axis<Size::embed / Size::heads> {};
  struct Hidden : weft::axis<Size::hidden> {};
  struct Class : weft::axis<Size::classes> {};

  static constexpr auto norm(weft::scope s, auto x) {
    return weft::nn::layer_norm<Embed>(s, x, {.epsilon = 1e-12});
  }
  static constexpr auto layer(weft::scope s, auto x) {
    namespace nn = weft::nn;
    using Inner = weft::shape<Heads, HeadDim>;
    auto self = s / "attention" / "attention";
    auto normed = norm(s / "layernorm_before", x);
    auto q = nn::linear<Embed, Inner>(self / "query", normed);
    auto k = weft::rename<Token, KeyToken>(nn::linear<Embed, Inner>(self / "key", normed));
    auto v = weft::rename<Token, KeyToken>(nn::linear<Embed, Inner>(self / "value", normed));
    auto heads = nn::attention<KeyToken>(nn::dot_product_score<HeadDim>(q, k), v).output;
    auto y = x + nn::linear<Inner, Embed>(s / "attention" / "output" / "dense", heads);
    auto h =
        nn::linear<Embed, Hidden>(s / "intermediate" / "dense", norm(s / "layernorm_after", y));
    return y + nn::linear<Hidden, Embed>(s / "output" / "dense", gelu(h));
  }
  constexpr auto operator()(weft::scope s) const {
    auto e = s / "vit" / "embeddings", p = e / "patch_embeddings" / "projection";
    auto image = s.input<"image", float, Image, Channel, Row, Column>();
    auto parts = weft::split<Column, Across, InAcross>(weft::split<Row, Down, InDown>(image));
    auto patches = weft::dot<Channel, InDown, InAcross>(
                       parts, p.param<"weight", Embed, Channel, InDown, InAcross>()) +
                   p.param<"bias", Embed>();
    auto first = weft::broadcast<Image>(e.param<"cls_token", First, Embed>());
    auto tokens = weft::concatenate<Token, weft::shape<First, Patch>>(
        first, weft::merge<Patch, Down, Across>(patches));
    auto x = tokens + e.param<"position_embeddings", Token, Embed>();
    for (int i = 0; i < Size::layers; ++i) x = layer(s / "vit" / "encoder" / "layer" / i, x);
    auto y = norm(s / "vit" / "layernorm", weft::gather<Token>(x, weft::constant(0)));
    return weft::results(weft::as<"logits">(weft::nn::linear<Embed, Class>(s / "classifier", y)));
  }
};

}  // namespace models
