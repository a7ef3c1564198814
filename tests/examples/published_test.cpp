// The models of examples/models, small and random, against Hugging Face's transformers: the file is
// made by tests/golden/published.py.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <models/bert.hpp>
#include <models/bert_encoder.hpp>
#include <models/gemma3.hpp>
#include <models/gpt2.hpp>
#include <models/llama.hpp>
#include <models/qwen3.hpp>
#include <models/t5_encoder.hpp>
#include <models/vit.hpp>
#include <models/whisper.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <weft/files/load.hpp>

#include "support/golden_file.hpp"

namespace {

using weft::arg, weft::tensor_file;

struct small_bert {
  static constexpr int vocab = 50, positions = 16, kinds = 2, embed = 20, heads = 5, hidden = 24,
                       layers = 2;
};
struct small_gpt2 {
  static constexpr int vocab = 60, positions = 32, embed = 24, heads = 4, layers = 2;
};
struct small_qwen3 {
  static constexpr int vocab = 60, embed = 24, kv_heads = 2, group = 3, head_dim = 8, hidden = 40,
                       layers = 2;
};
struct small_gemma3 : small_qwen3 {
  static constexpr int layers = 4, window = 4, full_every = 2;
};
struct small_vit {
  static constexpr int image = 12, patch = 4, channels = 3, embed = 24, heads = 4, hidden = 40,
                       layers = 2, classes = 7;
};
struct small_t5 {
  static constexpr int vocab = 60, embed = 24, heads = 4, head_dim = 8, hidden = 40, layers = 2;
};
struct small_whisper {
  static constexpr int mel = 5, frames = 30, vocab = 60, positions = 32, embed = 24, heads = 4,
                       layers = 2;
};
struct small_llama {
  static constexpr int vocab = 60, embed = 24, kv_heads = 2, group = 3, head_dim = 4, hidden = 40,
                       layers = 2;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{.base = 1000};
};
struct small_llama3 : small_llama {
  static constexpr weft::nn::rotary_options rotary{
      .base = 1000, .scaling = weft::nn::llama3_scaling({.factor = 8, .trained = 400})};
};

tensor_file golden() {
  return tensor_file(weft::testing::golden_file("published.safetensors"));
}
// The parameters whose names in the file begin with a prefix.
weft::weights under(const std::string& prefix) {
  return weft::weights(
      golden(), {.name_in_file = [=](auto name) { return prefix + name; }, .ignore_others = true});
}

// The largest differences that have been observed, with AVX2 and AVX-512; numbers here are about 1.
constexpr std::pair<std::string_view, double> observed[]{
    {"bert", 1e-7},    {"gpt2", 4e-7},       {"llama", 9e-6},    {"llama3", 3e-6},
    {"qwen2", 4e-6},   {"qwen3", 7e-6},      {"smollm3", 4e-6},  {"phi3", 2e-6},
    {"gpt_oss", 3e-6}, {"qwen3_next", 2e-6}, {"gemma3", 1.2e-5}, {"gemma4", 3e-6},
    {"vit", 2e-6},     {"t5_encoder", 8e-6}, {"whisper", 3e-6}};

// The largest difference of a model's values and transformers', which `--log_level=message` shows:
// at most four times what has been observed.
class difference {
 public:
  explicit difference(std::string name) : name_(std::move(name)) {}
  ~difference() {
    BOOST_TEST_MESSAGE(name_ << ": off by " << most_ << " at most");
    const auto* const known = std::ranges::find(observed, name_, [](auto& o) { return o.first; });
    const double most = known == std::end(observed) ? 0 : known->second;
    BOOST_TEST(most_ <= 4 * most, name_ << ": off by " << most_);
  }
  void add(float got, double expected) {
    const double off = std::abs(static_cast<double>(got) - expected);
    most_ = off <= most_ ? most_ : off;  // keeps NaN
  }
  void add(const auto& got, const std::vector<double>& expected) {
    BOOST_TEST_REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) add(got.data()[i], expected[i]);
  }

 private:
  std::string name_;
  double most_ = 0;
};

template <class Model>
void check_bert(const weft::weights& weights = under("bert.")) {
  const tensor_file file = golden();
  weft::module<Model, "embedding"> net(weights);
  const auto tokens = file["bert/tokens"].template values<std::int32_t>();
  const auto lengths = file["bert/lengths"].template values<std::int32_t>();
  const auto expected = file["bert/embedding"].template values<double>();
  difference off("bert");
  for (int frozen = 0; frozen < 2; ++frozen) {
    if (frozen == 1) net.freeze();
    // The file's sentences are padded to 16 tokens.
    std::vector<std::int32_t> ids, begins, ends;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(16 * s);
      begins.push_back(static_cast<std::int32_t>(ids.size()));
      ids.insert(ids.end(), first, first + lengths[s]);
      ends.push_back(static_cast<std::int32_t>(ids.size()));
    }
    const auto y = net(arg<"tokens">(ids), arg<"begins">(begins), arg<"ends">(ends))
                       .template get<"embedding">();
    for (std::size_t i = 0; i < expected.size(); ++i) off.add(y(i / 20, i % 20), expected[i]);
  }
}

// A model of language that is given tokens in parts, against its logits after each of them.
template <class Model>
void check_text(const std::string& name, const std::vector<std::size_t>& parts) {
  const tensor_file file = golden();
  weft::module<Model> net(under(name + "."));
  const auto tokens = file[name + "/tokens"].template values<std::int32_t>();
  const auto expected = file[name + "/logits"].template values<double>();
  difference off(name);
  for (int frozen = 0; frozen < 2; ++frozen) {
    if (frozen == 1) net.freeze();
    net.reset();
    std::size_t done = 0;
    for (const std::size_t count : parts) {
      const auto y =
          net(arg<"tokens">(std::span(tokens).subspan(done, count))).template get<"logits">();
      done += count;
      for (std::size_t v = 0; v < 60; ++v) off.add(y(v), expected[(done - 1) * 60 + v]);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(published)

BOOST_AUTO_TEST_CASE(bert_embeds_sentences_as_in_transformers) {
  check_bert<models::bert<small_bert, 24, 3>>();
  check_bert<models::bert<small_bert, 100, 8>>();
}

BOOST_AUTO_TEST_CASE(an_encoder_whose_projections_are_joined_embeds_as_bert_in_transformers) {
  using model = models::bert_encoder<small_bert, 100, 8>;
  const auto names = [](const std::string& name) {
    auto parts = model::names_in_file(name);
    for (auto& part : parts) part.insert(0, "bert.");
    return parts;
  };
  check_bert<model>(weft::weights(golden(), {.joined_in_file = names, .ignore_others = true}));
}

BOOST_AUTO_TEST_CASE(llama_predicts_as_in_transformers_in_parts_of_any_length) {
  check_text<models::llama<small_llama, 16, 32>>("llama", {11});
  check_text<models::llama<small_llama, 16, 32>>("llama", {5, 1, 1, 4});
  check_text<models::llama<small_llama, 1, 11>>("llama", std::vector<std::size_t>(11, 1));
  check_text<models::llama<small_llama3, 16, 32>>("llama3", {11});
}

BOOST_AUTO_TEST_CASE(gpt2_predicts_as_in_transformers) {
  check_text<models::gpt2<small_gpt2, 16>>("gpt2", {11});
  check_text<models::gpt2<small_gpt2, 16>>("gpt2", {5, 1, 1, 4});
}

BOOST_AUTO_TEST_CASE(qwen3_predicts_as_in_transformers) {
  check_text<models::qwen3<small_qwen3, 16, 32>>("qwen3", {11});
  check_text<models::qwen3<small_qwen3, 16, 32>>("qwen3", {5, 1, 1, 4});
}

// Models of causal blocks that examples/models has not: Blocks has their sizes, and makes a block.
template <class Blocks>
struct stack : models::qwen3<Blocks, 16, 32> {
  using base = models::qwen3<Blocks, 16, 32>;
  using Embed = typename base::Embed;

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    using Pos = typename base::Pos;
    auto model = s / "model";
    auto table = nn::tied_embedding<typename base::Vocab, Embed>(model / "embed_tokens");
    auto at = nn::decode_state<Pos>(s / "decoding");
    auto x = table.embed(s.input<"tokens", std::int32_t, Pos>());
    for (int i = 0; i < Blocks::layers; ++i) x = Blocks::block(*this, model, i, x, at);
    auto last = weft::gather<Pos>(x, weft::cast<std::int32_t>(weft::length<Pos>()) - 1);
    auto y = nn::rms_norm<Embed>(model / "norm", last, {.epsilon = Blocks::epsilon});
    return weft::results(weft::as<"logits">(table.logits(y)));
  }

  template <class P>
  static constexpr auto block(weft::scope model, int i, const auto& x, const auto& at,
                              weft::nn::causal_options options, const P& position_encoding) {
    options.epsilon = Blocks::epsilon;
    return weft::nn::causal_block<typename base::axes>(model / "layers" / i, x, at, options,
                                                       position_encoding);
  }
};

// Qwen 2 has biases instead of Qwen 3's norms.
struct qwen2 : small_qwen3 {
  static constexpr int head_dim = 4;
  static constexpr double epsilon = 1e-6;
  static constexpr auto block(const auto& stack, weft::scope model, int i, const auto& x,
                              const auto& at) {
    return stack.block(model, i, x, at, {.qkv_bias = true},
                       weft::nn::position::rotary({.base = 1000000}));
  }
};
// SmolLM 3 has layers without positions.
struct smollm3 : small_qwen3 {
  static constexpr int head_dim = 4, layers = 3;
  static constexpr double epsilon = 1e-6;
  static constexpr auto block(const auto& stack, weft::scope model, int i, const auto& x,
                              const auto& at) {
    return i == 1 ? stack.block(model, i, x, at, {}, weft::nn::position::none())
                  : stack.block(model, i, x, at, {}, weft::nn::position::rotary({.base = 1000}));
  }
};
// Phi 3 has LongRoPE.
struct phi3 : small_qwen3 {
  static constexpr int kv_heads = 1;
  static constexpr double epsilon = 1e-5;
  static constexpr auto block(const auto& stack, weft::scope model, int i, const auto& x,
                              const auto& at) {
    namespace nn = weft::nn;
    constexpr nn::position::long_rotary positions({.base = 1000, .factor = 4, .trained = 8});
    return stack.block(model, i, x, at, {}, nn::shared(model / "rope", positions));
  }
};

BOOST_AUTO_TEST_CASE(causal_blocks_with_biases_predict_as_qwen2_in_transformers) {
  check_text<stack<qwen2>>("qwen2", {11});
  check_text<stack<qwen2>>("qwen2", {5, 1, 1, 4});
}

BOOST_AUTO_TEST_CASE(causal_blocks_without_positions_predict_as_smollm3_in_transformers) {
  check_text<stack<smollm3>>("smollm3", {11});
  check_text<stack<smollm3>>("smollm3", {5, 1, 1, 4});
}

BOOST_AUTO_TEST_CASE(causal_blocks_with_longrope_predict_as_phi3_in_transformers) {
  check_text<stack<phi3>>("phi3", {11});
}

// The attention of models whose other parts weft has not: x, and what one layer or two make of it.
template <class Layers>
struct attentions {
  struct Pos : weft::axis<weft::between<1, 11>> {};
  struct Cache : weft::axis<weft::up_to<11>> {};
  struct Embed : weft::axis<24> {};
  struct Heads : weft::axis<2> {};
  struct Group : weft::axis<3> {};
  struct HeadDim : weft::axis<8> {};
  struct axes {
    using cache = Cache;
    using embed = Embed;
    using heads = Heads;
    using group = Group;
    using head_dim = HeadDim;
  };

  constexpr auto operator()(weft::scope s) const {
    auto at = weft::nn::decode_state<Pos>(s / "decoding");
    auto attend = [&](int layer, const auto& x, const auto&... more) {
      return weft::nn::causal_attention<axes>(s / layer, x, at, more...);
    };
    auto y = Layers::apply(attend, s.input<"x", float, Pos, Embed>());
    return weft::results(weft::as<"y">(y));
  }
};
struct gpt_oss {
  static constexpr auto apply(const auto& attend, const auto& x) {
    const weft::nn::causal_options options{
        .qkv_bias = true, .output_bias = true, .sinks = true, .window = 4};
    return attend(0, x, options, weft::nn::position::rotary({.base = 1000})).output;
  }
};
struct qwen3_next {
  static constexpr auto apply(const auto& attend, const auto& x) {
    using weft::nn::rotary_pairs;
    const weft::nn::causal_options options{
        .epsilon = 1e-6, .norm_heads = true, .one_plus_weight = true, .output_gate = true};
    return attend(0, x, options,
                  weft::nn::position::rotary<rotary_pairs::half_split, 4>({.base = 1000}))
        .output;
  }
};
struct gemma4 {
  static constexpr auto apply(const auto& attend, const auto& x) {
    const weft::nn::causal_options options{
        .epsilon = 1e-6, .norm_heads = true, .norm_values = true, .scale = 1};
    const weft::nn::position::rotary half({.base = 1000, .share = 0.5});
    auto own = attend(0, x, options, half);
    return attend(1, own.output, own.past, options, half).output;
  }
};

template <class Layers>
void check_attention(const std::string& name) {
  const tensor_file file = golden();
  weft::module<attentions<Layers>> net(under(name + "."));
  const auto x = file[name + "/x"].template values<float>();
  const auto expected = file[name + "/y"].template values<double>();
  difference off(name);
  for (const std::vector<std::size_t>& parts :
       {std::vector<std::size_t>{11}, std::vector<std::size_t>{5, 1, 1, 4}}) {
    net.reset();
    std::size_t done = 0;
    for (const std::size_t count : parts) {
      const auto y = net(arg<"x">(std::span(x).subspan(24 * done, 24 * count))).template get<"y">();
      for (std::size_t i = 0; i < 24 * count; ++i) off.add(y.data()[i], expected[24 * done + i]);
      done += count;
    }
  }
}

BOOST_AUTO_TEST_CASE(attention_with_sinks_in_a_window_is_that_of_gpt_oss_in_transformers) {
  check_attention<gpt_oss>("gpt_oss");
}

BOOST_AUTO_TEST_CASE(attention_with_an_output_gate_is_that_of_qwen3_next_in_transformers) {
  check_attention<qwen3_next>("qwen3_next");
}

BOOST_AUTO_TEST_CASE(attention_that_shares_keys_and_rotates_some_pairs_is_gemma4s_in_transformers) {
  check_attention<gemma4>("gemma4");
}

BOOST_AUTO_TEST_CASE(gemma3_predicts_as_in_transformers) {
  check_text<models::gemma3<small_gemma3, 16, 32>>("gemma3", {11});
  check_text<models::gemma3<small_gemma3, 16, 32>>("gemma3", {5, 1, 1, 4});
}

BOOST_AUTO_TEST_CASE(vit_classifies_images_as_in_transformers) {
  const tensor_file file = golden();
  weft::module<models::vit<small_vit, 3>> net(under("vit."));
  const auto images = file["vit/images"].values<float>();
  const auto y = net(arg<"image">(images)).get<"logits">();
  difference("vit").add(y, file["vit/logits"].values<double>());
}

BOOST_AUTO_TEST_CASE(t5_encodes_as_in_transformers) {
  const tensor_file file = golden();
  weft::module<models::t5_encoder<small_t5, 200>> net(under("t5."));
  const auto tokens = file["t5/tokens"].values<std::int32_t>();
  const auto y = net(arg<"tokens">(tokens)).get<"encoded">();
  difference("t5_encoder").add(y, file["t5/encoded"].values<double>());
}

BOOST_AUTO_TEST_CASE(whisper_hears_and_writes_as_in_transformers) {
  using model = models::whisper<small_whisper>;
  const tensor_file file = golden();
  weft::module<model::encoder> hear(under("whisper."));
  weft::module<model::decoder<8>> write(under("whisper."));
  const auto mel = file["whisper/mel"].values<float>();
  const auto encoded = hear(arg<"mel">(mel)).get<"encoded">();
  difference off("whisper");
  off.add(encoded, file["whisper/encoded"].values<double>());
  const auto tokens = file["whisper/tokens"].values<std::int32_t>();
  const auto expected = file["whisper/logits"].values<double>();
  std::size_t done = 0;
  std::span<const float> sound(encoded.data(), encoded.size());
  for (const std::size_t count : std::vector<std::size_t>{4, 1, 4}) {
    const auto y =
        write(arg<"tokens">(std::span(tokens).subspan(done, count)), arg<"encoded">(sound))
            .get<"logits">();
    sound = {};
    done += count;
    for (std::size_t v = 0; v < 60; ++v) off.add(y(v), expected[(done - 1) * 60 + v]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
