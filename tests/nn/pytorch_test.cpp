// Layers against torch.nn's, with PyTorch's names and shapes of parameters: tests/golden/layers.py.
#include <boost/test/unit_test.hpp>
#include <string>

#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;
using weft::testing::check_reference, weft::testing::golden_trial;

struct Batch : axis<2> {};
struct Pos : axis<5> {};
struct KeyPos : alias<Pos> {};
struct Unit : axis<7> {};
struct Embed : axis<12> {};
struct KeyEmbed : axis<10> {};
struct ValueEmbed : axis<8> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
struct unit_axes : axes {
  using keys = Unit;
};

weft::tensor_file stored(const std::string& name) {
  return weft::tensor_file(weft::testing::golden_file(name + ".safetensors"));
}

// The sum of y times a cotangent, so that every element has a gradient of its own.
template <class... Axes, class X>
constexpr auto loss_of(scope s, shape<Axes...>, const X& y) {
  return sum<Axes...>(y * s.input<"cotangent", float, Axes...>());
}
template <class X>
constexpr auto loss_of(scope s, const X& y) {
  return loss_of(s, shape_t<X>{}, y);
}

struct padded {
  constexpr auto operator()(scope s) const {
    const auto query = s.param<"query", Batch, Pos, Embed>();
    const auto lengths = s.input<"lengths", std::int32_t, Batch>();
    const auto seen = nn::self_attention<axes>(s, query, lengths);
    return results(as<"loss">(loss_of(s, seen.output)), as<"y">(seen.output),
                   as<"weights">(mean<Heads>(seen.weights)));
  }
};

struct sizes : unit_axes {
  using key_width = KeyEmbed;
  using value_width = ValueEmbed;
};
struct given {
  tensor<float, shape<Batch, Pos, Embed>> query;
  tensor<float, shape<Batch, Unit, KeyEmbed>> key;
  tensor<float, shape<Batch, Unit, ValueEmbed>> value;
};
constexpr given given_in(scope s) {
  return {s.param<"query", Batch, Pos, Embed>(), s.param<"key", Batch, Unit, KeyEmbed>(),
          s.param<"value", Batch, Unit, ValueEmbed>()};
}

struct of_sizes {
  constexpr auto operator()(scope s) const {
    const auto [query, key, value] = given_in(s);
    const auto mask = s.input<"mask", std::int32_t, Pos, Unit>() != 0;
    const auto seen = nn::multi_head_attention<sizes>(s, query, key, value, mask);
    return results(as<"loss">(loss_of(s, seen.output)), as<"y">(seen.output),
                   as<"weights">(seen.weights));
  }
};

struct with_zero_key {
  constexpr auto operator()(scope s) const {
    const auto [query, key, value] = given_in(s);
    const auto bias = s.input<"bias", float, Pos, Unit>();
    const auto seen = nn::multi_head_attention<sizes>(s, query, key, value, bias,
                                                      {.bias = false, .zero_key = true});
    return results(as<"loss">(loss_of(s, seen.output)), as<"y">(seen.output),
                   as<"weights">(seen.weights));
  }
};

struct by_head {
  constexpr auto operator()(scope s) const {
    const auto query = s.param<"query", Batch, Pos, Embed>();
    const auto key = s.param<"key", Batch, Unit, Embed>();
    const auto mask = nn::masks(s.input<"bias", float, Batch, Heads, Pos, Unit>(),
                                s.input<"lengths", std::int32_t, Batch>());
    const auto seen =
        nn::multi_head_attention<unit_axes>(s, query, key, key, mask, {.bias = false});
    return results(as<"loss">(loss_of(s, seen.output)), as<"y">(seen.output),
                   as<"weights">(seen.weights));
  }
};

// Narrower axes, for the blocks.
struct Width : axis<6> {};
struct Dim : axis<2> {};
struct Hidden : axis<7> {};
struct Memory : axis<6> {};
struct MemoryKey : alias<Memory> {};
struct block_axes : axes {
  using memory = Memory;
  using embed = Width;
  using head_dim = Dim;
  using hidden = Hidden;
};
struct source_axes : block_axes {
  using positions = Memory;
  using keys = MemoryKey;
};

constexpr nn::transformer_options options(nn::activation activation, bool norm_first) {
  return {.norm_first = norm_first, .activation = activation};
}

template <nn::activation Activation, bool NormFirst>
struct encoder_block {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Memory, Width>();
    const auto y = nn::encoder_block<source_axes>(s, x, s.input<"lengths", std::int32_t, Batch>(),
                                                  options(Activation, NormFirst))
                       .output;
    return results(as<"loss">(loss_of(s, y)), as<"y">(y));
  }
};

template <nn::activation Activation, bool NormFirst>
struct decoder_block {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Width>();
    const auto memory = s.param<"memory", Batch, Memory, Width>();
    const auto y = nn::decoder_block<block_axes>(s, x, memory, nn::causal<Pos, KeyPos>(),
                                                 s.input<"lengths", std::int32_t, Batch>(),
                                                 options(Activation, NormFirst))
                       .output;
    return results(as<"loss">(loss_of(s, y)), as<"y">(y));
  }
};

template <nn::activation Activation, bool NormFirst>
struct transformer {
  constexpr auto operator()(scope s) const {
    const auto source = s.param<"source", Batch, Memory, Width>();
    const auto target = s.param<"target", Batch, Pos, Width>();
    const auto lengths = s.input<"lengths", std::int32_t, Batch>();
    const auto y = nn::transformer<source_axes, block_axes>(s, source, target, 2, 2, lengths,
                                                            nn::causal<Pos, KeyPos>(), lengths,
                                                            options(Activation, NormFirst))
                       .output;
    return results(as<"loss">(loss_of(s, y)), as<"y">(y));
  }
};

struct encoder_layer {
  struct Pos : axis<7> {};
  struct KeyPos : alias<Pos> {};
  struct Embed : axis<20> {};
  struct Heads : axis<5> {};
  struct HeadDim : axis<4> {};
  struct Hidden : axis<33> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };

  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Embed>();
    const auto y = nn::encoder_block<axes>(s, x).output;
    return results(as<"loss">(loss_of(s, y)), as<"y">(y));
  }
};

template <template <nn::activation, bool> class Block>
void all_options(const weft::tensor_file& file) {
  check_reference<Block<nn::activation::relu, false>>(file, "relu.post.");
  check_reference<Block<nn::activation::relu, true>>(file, "relu.pre.");
  check_reference<Block<nn::activation::gelu, false>>(file, "gelu.post.");
  check_reference<Block<nn::activation::gelu, true>>(file, "gelu.pre.");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pytorch)

BOOST_AUTO_TEST_CASE(multi_head_attention_with_each_option_matches_pytorch) {
  const auto file = stored("multi_head_attention");
  check_reference<padded>(file, "padded.");
  golden_trial<of_sizes>(file, "sizes.");
  check_reference<with_zero_key>(file, "zero_key.");
  check_reference<by_head>(file, "by_head.");
}

BOOST_AUTO_TEST_CASE(encoder_and_decoder_blocks_match_pytorch) {
  all_options<encoder_block>(stored("encoder_blocks"));
  all_options<decoder_block>(stored("decoder_blocks"));
}

BOOST_AUTO_TEST_CASE(an_encoder_layer_of_awkward_extents_matches_pytorch) {
  check_reference<encoder_layer>(stored("encoder_layer"));
}

BOOST_AUTO_TEST_CASE(transformers_of_encoder_and_decoder_match_pytorch) {
  check_reference<transformer<nn::activation::relu, true>>(stored("transformer_pre"));
  golden_trial<transformer<nn::activation::gelu, false>>(stored("transformer_post"));
}

BOOST_AUTO_TEST_SUITE_END()
