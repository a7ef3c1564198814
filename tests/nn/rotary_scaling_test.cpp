// The frequencies of published configurations, against those of Hugging Face's transformers.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/golden_file.hpp"
#include "support/trial.hpp"
#include "weft/files/tensor_file.hpp"
#include "weft/weft.hpp"

namespace {

namespace nn = weft::nn;

struct Pos : weft::axis<weft::up_to<2>> {};
struct D64 : weft::axis<64> {};
struct D128 : weft::axis<128> {};
struct D256 : weft::axis<256> {};

// Rotated x at the positions `at`, by the options of each configuration.
struct published {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    const auto at = s.input<"at", std::int32_t, Pos>();
    const auto x64 = s.input<"x64", float, Pos, D64>();
    const auto x128 = s.input<"x128", float, Pos, D128>();
    const auto x256 = s.input<"x256", float, Pos, D256>();
    const nn::position::long_rotary<nn::rotary_pairs::half_split, 96> phi({.factor = 32});
    return weft::results(
        as<"deepseek_v3">(nn::rotary<D64>(
            x64, at,
            {.scaling = nn::yarn_scaling(
                 {.factor = 40, .trained = 4096, .mscale = 1, .mscale_all_dim = 1})})),
        as<"deepseek_v2">(nn::rotary<D64>(
            x64, at,
            {.scaling = nn::yarn_scaling(
                 {.factor = 40, .trained = 4096, .mscale = 0.707, .mscale_all_dim = 1})})),
        as<"gpt_oss">(nn::rotary<D64>(
            x64, at,
            {.base = 150000,
             .scaling = nn::yarn_scaling({.factor = 32, .trained = 4096, .truncate = false})})),
        as<"qwen2_5">(nn::rotary<D128>(
            x128, at, {.base = 1e6, .scaling = nn::yarn_scaling({.factor = 4, .trained = 32768})})),
        as<"yarn_factor">(nn::rotary<D64>(
            x64, at,
            {.scaling = nn::yarn_scaling(
                 {.factor = 16, .trained = 64, .beta_fast = 8, .attention_factor = 1.25})})),
        as<"phi_4_mini">(phi.query<weft::shape<>, D128>(s / "rope", x128, at)),
        as<"llama_3_1">(nn::rotary<D128>(
            x128, at,
            {.base = 500000, .scaling = nn::llama3_scaling({.factor = 8, .trained = 8192})})),
        as<"modern_bert_global">(nn::rotary<D64>(x64, at, {.base = 160000})),
        as<"modern_bert_local">(nn::rotary<D64>(x64, at)),
        as<"gemma_3_global">(
            nn::rotary<D256>(x256, at, {.base = 1e6, .scaling = nn::linear_scaling(8)})),
        as<"gemma_3_local">(nn::rotary<D256>(x256, at)),
        as<"gemma_4_global">(nn::rotary<D256>(x256, at, {.base = 1e6, .share = 0.25})),
        as<"dynamic">(nn::rotary<D128>(
            x128, at,
            {.base = 1e6, .scaling = nn::dynamic_scaling({.factor = 2, .trained = 2048})})));
  }
};

struct Long : weft::axis<weft::up_to<40>> {};
struct Four : weft::axis<4> {};

struct lengthened {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Long, Four>();
    const nn::position::long_rotary<> by({.factor = 2, .trained = 20});
    const auto at = weft::positions<Long>();
    return weft::results(
        weft::as<"dynamic">(nn::rotary<Four>(
            x, at, {.scaling = nn::dynamic_scaling({.factor = 2, .trained = 20})})),
        weft::as<"long">(by.query<weft::shape<>, Four>(s, x, at)));
  }
};

// The pairs (1, 0) of a head of which `size` elements are rotated, at two positions.
template <class HeadDim>
auto pairs_of(std::size_t size = HeadDim::extent) {
  weft::array<float, Pos, HeadDim> x(2);
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t j = 0; j < size / 2; ++j) x(t, j) = 1;
  return x;
}

// Position 1 turns the pair (1, 0) by its frequency ω, to (m cos ω, m sin ω).
void check(const auto& y, const std::string& name) {
  const weft::tensor_file file(weft::testing::golden_file("rotary_scaling.safetensors"));
  std::vector<double> expected = file[name].values<double>();
  const double magnitude = expected.back();
  expected.pop_back();
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const auto a = static_cast<double>(y(1, j)), b = static_cast<double>(y(1, j + expected.size()));
    const double frequency = std::atan2(b, a);
    BOOST_TEST(std::abs(frequency - expected[j]) <= 1e-6 * expected[j],
               name << ": frequency " << j << " is " << frequency << ", not " << expected[j]);
    BOOST_TEST(std::abs(std::hypot(a, b) / magnitude - 1) <= 4 * 0x1p-24,
               name << ": pair " << j << " is multiplied by " << std::hypot(a, b) << ", not by "
                    << magnitude);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rotary_scaling)

BOOST_AUTO_TEST_CASE(frequencies_of_published_configurations_are_those_of_transformers) {
  weft::module<published> net;
  const auto x64 = pairs_of<D64>();
  const auto x128 = pairs_of<D128>();
  const auto x256 = pairs_of<D256>();
  const std::vector<std::int32_t> at{0, 1};
  const auto y = net(weft::arg<"at">(at), weft::arg<"x64">(x64), weft::arg<"x128">(x128),
                     weft::arg<"x256">(x256));
  check(y.get<"deepseek_v3">(), "deepseek_v3");
  check(y.get<"deepseek_v2">(), "deepseek_v2");
  check(y.get<"gpt_oss">(), "gpt_oss");
  check(y.get<"qwen2_5">(), "qwen2_5");
  check(y.get<"yarn_factor">(), "yarn_factor");
  check(y.get<"llama_3_1">(), "llama_3_1");
  check(y.get<"modern_bert_global">(), "modern_bert_global");
  check(y.get<"modern_bert_local">(), "modern_bert_local");
  check(y.get<"gemma_3_global">(), "gemma_3_global");
  check(y.get<"gemma_3_local">(), "gemma_3_local");
  check(y.get<"gemma_4_global">(), "gemma_4_global");
}

BOOST_AUTO_TEST_CASE(frequencies_that_depend_on_the_length_are_those_of_the_greatest_position) {
  const weft::tensor_file file(weft::testing::golden_file("rotary_scaling.safetensors"));
  weft::module<published, "dynamic", "phi_4_mini"> net;
  const std::vector<float> factors = file["phi_4_mini_factors"].values<float>();
  std::ranges::copy(factors, net.parameters().find("rope.long_factor").values.begin());
  const auto x128 = pairs_of<D128>();
  const auto x96 = pairs_of<D128>(96);
  const auto run = [&](std::int32_t last, const auto& x) {
    const std::vector<std::int32_t> at{last, 1};
    return net(weft::arg<"at">(at), weft::arg<"x128">(x));
  };
  check(run(99, x128).get<"dynamic">(), "dynamic_short");
  check(run(2047, x128).get<"dynamic">(), "dynamic_short");
  check(run(8999, x128).get<"dynamic">(), "dynamic_long");
  check(run(4095, x96).get<"phi_4_mini">(), "phi_4_mini_short");
  check(run(4096, x96).get<"phi_4_mini">(), "phi_4_mini_long");
}

BOOST_AUTO_TEST_CASE(dynamic_scaling_of_a_run_follows_its_length) {
  for (int n : {0, 1, 3, 40})
    weft::testing::trial<weft::inference<lengthened>>(weft::testing::lengths<Long>(n));
}

BOOST_AUTO_TEST_SUITE_END()
