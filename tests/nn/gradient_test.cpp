// Layers at run-time lengths: gradients against central differences, and lowered programs against
// the reference.
#include <boost/test/unit_test.hpp>

#include "support/central_differences.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;
using weft::testing::check_gradients, weft::testing::lengths, weft::testing::trial;

struct Batch : axis<2> {};
struct Pos : axis<up_to<4>> {};
struct KeyPos : alias<Pos> {};
struct Memory : axis<up_to<5>> {};
struct Embed : axis<6> {};
struct KeyEmbed : axis<5> {};
struct Output : axis<3> {};
struct Heads : axis<2> {};
struct Group : axis<3> {};
struct HeadDim : axis<2> {};
struct ValueDim : axis<1> {};
struct Hidden : axis<4> {};
struct Vocab : axis<5> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using memory = Memory;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};
struct grouped : axes {
  using group = Group;
};

template <class... Axes, class X>
constexpr auto sum_of_squares(shape<Axes...>, const X& y) {
  return sum<Axes...>(y * y);
}
template <class X>
constexpr auto loss(const X& y) {
  return results(as<"loss">(sum_of_squares(shape_t<X>{}, y)));
}
// x times a learned gain, so that it has a gradient.
constexpr auto operand(scope s) {
  return s.input<"x", float, Batch, Pos, Embed>() * s.param<"gain", Embed>();
}
constexpr auto memory(scope s) {
  return s.input<"memory", float, Batch, Memory, Embed>() * s.param<"memory_gain", Embed>();
}

struct scores {
  constexpr auto operator()(scope s) const {
    const auto q = operand(s);
    const auto k = rename<Pos, KeyPos>(q) * 0.5;
    const auto other = slice<Embed, KeyEmbed>(k);
    const auto cap = nn::dot_product_score<Embed>(q, k, {.scale = 0.7, .soft_cap = 2});
    const auto all = cap + nn::additive_score<Embed, KeyEmbed, Hidden>(s / "additive", q, other) +
                     nn::bilinear_score<Embed, KeyEmbed>(s / "bilinear", q, other) +
                     nn::gaussian_score<Embed>(q, k) + nn::gaussian_score<Embed>(s / "wide", q, k);
    const auto mask =
        nn::masks(nn::sliding_window<Pos, KeyPos>({.left = 1, .right = 2}),
                  s.input<"lengths", std::int32_t, Batch, Pos>(), s.input<"bias", float, KeyPos>());
    return loss(nn::attention<KeyPos>(all, k, mask).output);
  }
};

struct narrow_values : grouped {
  using value_dim = ValueDim;
  using output_width = Output;
};
struct multi_query : axes {
  using key_heads = shape<>;
  using output_width = Output;
};
template <class Axes>
struct heads {
  constexpr auto operator()(scope s) const {
    const auto y =
        nn::self_attention<Axes>(s, operand(s), nn::causal<Pos, KeyPos>(), {.soft_cap = 3});
    return loss(y.output);
  }
};
using grouped_heads = heads<narrow_values>;
using one_head_of_keys = heads<multi_query>;

struct zero_key {
  constexpr auto operator()(scope s) const {
    const auto y = nn::self_attention<axes>(
        s, operand(s), s.input<"lengths", std::int32_t, Batch>(), {.zero_key = true});
    return loss(y.output);
  }
};

template <nn::activation Activation>
struct feed_forward {
  constexpr auto operator()(scope s) const {
    return loss(nn::feed_forward<Embed, Hidden>(s, operand(s), {.activation = Activation}));
  }
};

// As in Llama, RMS norm before each sublayer, SwiGLU, no biases; and dropout.
struct modern_block {
  constexpr auto operator()(scope s) const {
    const auto y = nn::encoder_block<grouped>(s, operand(s), nn::causal<Pos, KeyPos>(),
                                              {.norm_first = true,
                                               .activation = nn::activation::swiglu,
                                               .normalization = nn::normalization::rms,
                                               .bias = false,
                                               .dropout = 0.2});
    return loss(y.output);
  }
};

struct decoding {
  constexpr auto operator()(scope s) const {
    const auto y = nn::decoder_block<axes>(s, operand(s), memory(s), nn::causal<Pos, KeyPos>(),
                                           s.input<"lengths", std::int32_t, Batch>(),
                                           {.activation = nn::activation::gelu_tanh});
    return loss(y.output * s.input<"weight", float, Embed>());
  }
};

struct tied_words {
  constexpr auto operator()(scope s) const {
    const auto words = nn::tied_embedding<Vocab, Embed>(s);
    const auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    return loss(words.logits(nn::rms_norm<Embed>(s / "norm", words.embed(tokens))));
  }
};

// Keeps normalized rows from being almost constant, where the third derivative is large.
weft::testing::settings smooth(weft::testing::settings s) {
  for (const auto* name : {"gain", "norm1.weight", "norm2.weight", "norm3.weight"})
    s.ranges[name] = {0.5, 1};
  for (const auto* name : {"self_attn.out_proj.weight", "multihead_attn.out_proj.weight",
                           "linear1.weight", "linear2.weight", "gate.weight"})
    s.ranges[name] = {-0.2, 0.2};
  s.tolerance = 1e-4;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gradients)

BOOST_AUTO_TEST_CASE(gradients_of_scores_and_masks_match_central_differences) {
  for (const int pos : {1, 4}) check_gradients<scores>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_multi_head_attention_match_central_differences) {
  for (const int pos : {1, 4}) {
    check_gradients<grouped_heads>(lengths<Pos>(pos));
    check_gradients<one_head_of_keys>(lengths<Pos>(pos));
    check_gradients<zero_key>(lengths<Pos>(pos));
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_feed_forward_networks_match_central_differences) {
  check_gradients<feed_forward<nn::activation::relu>>(lengths<Pos>(3));
  check_gradients<feed_forward<nn::activation::gelu>>(lengths<Pos>(3));
  check_gradients<feed_forward<nn::activation::gelu_tanh>>(lengths<Pos>(3));
  check_gradients<feed_forward<nn::activation::swiglu>>(lengths<Pos>(3));
}

BOOST_AUTO_TEST_CASE(gradients_of_encoder_and_decoder_blocks_match_central_differences) {
  check_gradients<modern_block>(smooth(lengths<Pos>(3)));
  check_gradients<decoding>(smooth(lengths<Pos, Memory>(3, 5)));
  check_gradients<decoding>(smooth(lengths<Pos, Memory>(2, 0)));
}

BOOST_AUTO_TEST_CASE(gradients_of_a_tied_embedding_match_central_differences) {
  check_gradients<tied_words>(lengths<Pos>(4));
}

BOOST_AUTO_TEST_CASE(gradients_of_layers_match_the_reference_at_every_length) {
  for (const int pos : {0, 1, 3, 4}) {
    auto s = lengths<Pos>(pos);
    s.tolerance = 1e-4;
    trial<training<grouped_heads, "loss">>(s);
    trial<training<zero_key, "loss">>(s);
    trial<training<modern_block, "loss">>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
