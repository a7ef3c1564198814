// The models of examples/models, small and random, against Hugging Face's transformers: the file is
// made by tests/golden/published.py.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <models/bert.hpp>
#include <models/llama.hpp>
#include <span>
#include <string>
#include <vector>
#include <weft/io/load.hpp>

#include "support/golden_file.hpp"

namespace {

using weft::arg;
using weft::tensor_file;

struct small_bert {
  static constexpr int vocab = 50, positions = 16, kinds = 2, embed = 20, heads = 5, hidden = 24,
                       layers = 2;
};
struct small_llama {
  static constexpr int vocab = 60, embed = 24, kv_heads = 2, group = 3, head_dim = 4, hidden = 40,
                       layers = 2;
  static constexpr double base = 1000, epsilon = 1e-5;
};

tensor_file golden() {
  return tensor_file(weft::testing::golden_file("published.safetensors"));
}
// The parameters whose names in the file begin with a prefix.
weft::weights under(const std::string& prefix) {
  return weft::weights(
      golden(), {.name_in_file = [=](auto name) { return prefix + name; }, .ignore_others = true});
}

// The errors of two layers' sums in float32 are far below this: numbers here are about 1.
constexpr double tolerance = 1e-4;

template <class Model>
void check_bert() {
  tensor_file const file = golden();
  weft::module<Model, "embedding"> net(under("bert."));
  auto const tokens = file["bert/tokens"].template values<std::int32_t>();
  auto const lengths = file["bert/lengths"].template values<std::int32_t>();
  auto const expected = file["bert/embedding"].template values<double>();
  for (int frozen = 0; frozen < 2; ++frozen) {
    if (frozen == 1) net.freeze();
    weft::array<std::int32_t, typename Model::Sentence, typename Model::Pos> ids(3, 16);
    for (std::size_t i = 0; i < tokens.size(); ++i) ids(i / 16, i % 16) = tokens[i];
    auto const y = net(arg<"tokens">(ids), arg<"lengths">(lengths)).template get<"embedding">();
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(std::abs(static_cast<double>(y(i / 20, i % 20)) - expected[i]) < tolerance);
  }
}

template <class Model>
void check_llama(const std::vector<std::size_t>& parts) {
  tensor_file const file = golden();
  weft::module<Model> net(under("llama."));
  auto const tokens = file["llama/tokens"].template values<std::int32_t>();
  auto const expected = file["llama/logits"].template values<double>();
  for (int frozen = 0; frozen < 2; ++frozen) {
    if (frozen == 1) net.freeze();
    net.reset();
    std::size_t done = 0;
    for (std::size_t const count : parts) {
      auto const y =
          net(arg<"tokens">(std::span(tokens).subspan(done, count))).template get<"logits">();
      done += count;
      for (std::size_t v = 0; v < 60; ++v)
        BOOST_TEST(std::abs(static_cast<double>(y(v)) - expected[(done - 1) * 60 + v]) < tolerance);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(published)

BOOST_AUTO_TEST_CASE(bert_embeds_sentences_as_in_transformers) {
  check_bert<models::bert<small_bert, 3>>();
  check_bert<models::bert<small_bert, 8>>();
}

BOOST_AUTO_TEST_CASE(llama_predicts_as_in_transformers_in_parts_of_any_length) {
  check_llama<models::llama<small_llama, 16, 32>>({11});
  check_llama<models::llama<small_llama, 16, 32>>({5, 1, 1, 4});
  check_llama<models::llama<small_llama, 1, 11>>(std::vector<std::size_t>(11, 1));
}

BOOST_AUTO_TEST_SUITE_END()
