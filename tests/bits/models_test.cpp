// Models of examples/models, small, of pseudorandom parameters: in one run, token by token with
// caches, and frozen.
#include <boost/test/unit_test.hpp>
#include <models/bert.hpp>
#include <models/bert_encoder.hpp>
#include <models/gemma3.hpp>
#include <models/gpt2.hpp>
#include <models/llama.hpp>
#include <models/qwen3.hpp>
#include <models/t5_encoder.hpp>
#include <models/vit.hpp>
#include <models/whisper.hpp>
#include <string>
#include <vector>

#include "bits/hashes.hpp"
#include "support/golden_init.hpp"
#include "weft/run.hpp"

namespace {

using weft::arg, weft::fingerprint, weft::precision, weft::testing::hashes;
namespace golden = weft::golden;

struct small_bert {
  static constexpr int vocab = 50, positions = 40, kinds = 2, embed = 20, heads = 5, hidden = 24,
                       layers = 2;
};
struct small_gpt2 {
  static constexpr int vocab = 50, positions = 96, embed = 24, heads = 4, layers = 2;
};
struct small_llama {
  static constexpr int vocab = 50, embed = 24, kv_heads = 2, group = 3, head_dim = 4, hidden = 40,
                       layers = 2;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{
      .base = 1000, .scaling = weft::nn::llama3_scaling({.factor = 8, .trained = 400})};
};
struct small_qwen3 {
  static constexpr int vocab = 50, embed = 24, kv_heads = 2, group = 3, head_dim = 8, hidden = 40,
                       layers = 2;
};
struct small_gemma3 : small_qwen3 {
  static constexpr int layers = 4, window = 20, full_every = 2;
};
struct small_t5 {
  static constexpr int vocab = 50, embed = 24, heads = 4, head_dim = 8, hidden = 40, layers = 2;
};
struct small_vit {
  static constexpr int image = 12, patch = 4, channels = 3, embed = 24, heads = 4, hidden = 40,
                       layers = 2, classes = 7;
};
struct small_whisper {
  static constexpr int mel = 5, frames = 60, vocab = 50, positions = 96, embed = 24, heads = 4,
                       layers = 2;
};

// In [-1, 1).
float number(std::string_view name, std::size_t i) {
  return static_cast<float>(static_cast<std::int32_t>(golden::hash(name, i) >> 8) - (1 << 23)) *
         0x1p-23f;
}
std::vector<float> numbers(std::string_view name, std::size_t count) {
  std::vector<float> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(number(name, i));
  return all;
}
std::vector<std::int32_t> tokens(std::size_t count) {
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::int32_t>(golden::hash("tokens", i) % 50));
  return all;
}
// Gains are about 1, other parameters in [-1/4, 1/4).
void fill(const weft::parameter_block& parameters) {
  for (std::size_t i = 0; i < parameters.count(); ++i) {
    const weft::parameter p = parameters[i];
    const bool gain = p.name.find("norm") != p.name.npos && p.name.ends_with(".weight");
    for (std::size_t j = 0; j < p.values.size(); ++j)
      p.values[j] = number(p.name, j) / 4 + (gain ? 1 : 0);
  }
}

// Adds the hashes of what run(net) gives: as it is, frozen, and packed in bfloat16.
template <class Model, class Run>
void add(hashes& to, const std::string& name, Run run) {
  for (const auto as : {"", ".frozen", ".bfloat16"}) {
    weft::module<Model> net;
    fill(net.parameters());
    if (as[0] == '.') net.freeze(as[1] == 'f' ? precision::float32 : precision::bfloat16);
    to.add(name + as, run(net));
  }
}

// The text in parts, through the cache: the hash is of the logits after each.
template <class Model>
void add_text(hashes& to, const std::string& name) {
  add<Model>(to, name, [](auto& net) {
    const auto text = tokens(72);
    std::uint64_t hash = 0;
    std::size_t done = 0;
    for (const std::size_t count : {50u, 1u, 1u, 19u, 1u}) {
      const auto part = std::span(text).subspan(done, count);
      hash = hash * 31 + fingerprint(net(arg<"tokens">(part)));
      done += count;
    }
    return hash;
  });
}

template <class Model>
void add_bert(hashes& to, const std::string& name) {
  add<Model>(to, name, [](auto& net) {
    const std::vector<std::int32_t> begins{0, 9, 10}, ends{9, 10, 50};
    return fingerprint(net(arg<"tokens">(tokens(50)), arg<"begins">(begins), arg<"ends">(ends)));
  });
}

void add_all(hashes& to) {
  add_bert<models::bert<small_bert, 50, 3>>(to, "bert");
  add_bert<models::bert_encoder<small_bert, 50, 3>>(to, "bert_encoder");
  add_text<models::gpt2<small_gpt2, 50>>(to, "gpt2");
  add_text<models::llama<small_llama, 50, 96>>(to, "llama");
  add_text<models::qwen3<small_qwen3, 50, 96>>(to, "qwen3");
  add_text<models::gemma3<small_gemma3, 50, 96>>(to, "gemma3");
  add<models::t5_encoder<small_t5, 200>>(
      to, "t5_encoder", [](auto& net) { return fingerprint(net(arg<"tokens">(tokens(150)))); });
  add<models::vit<small_vit, 2>>(to, "vit", [](auto& net) {
    return fingerprint(net(arg<"image">(numbers("image", 2 * 3 * 12 * 12))));
  });
  using whisper = models::whisper<small_whisper>;
  add<whisper::encoder>(to, "whisper_encoder", [](auto& net) {
    return fingerprint(net(arg<"mel">(numbers("mel", 5 * 60))));
  });
  add<whisper::decoder<8>>(to, "whisper_decoder", [](auto& net) {
    const auto text = tokens(10);
    const auto sound = numbers("sound", 30 * 24);
    std::span<const float> heard = sound;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < 10; i += 5) {
      const auto part = std::span(text).subspan(i, 5);
      hash = hash * 31 + fingerprint(net(arg<"tokens">(part), arg<"encoded">(heard)));
      heard = {};
    }
    return hash;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(published_models, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(published_models_have_the_same_bits_on_all_targets_of_a_family) {
  hashes all("models");
  all.check_on_every_target([&] { add_all(all); });
}

BOOST_AUTO_TEST_SUITE_END()
