// Losses and normalizations against torch.nn's, by tests/golden/losses.py.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>

#include "passes/graphs.hpp"
#include "support/golden_file.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Batch : axis<2> {};
struct Pos : axis<5> {};
struct Embed : axis<12> {};
struct Classes : axis<7> {};

template <class... Axes>
constexpr auto results_of(scope s, const tensor<float, shape<Axes...>>& y) {
  const auto weighed = y * s.input<"cotangent", float, Axes...>();
  if constexpr (sizeof...(Axes) == 0)
    return results(as<"loss">(weighed), as<"y">(y));
  else
    return results(as<"loss">(sum<Axes...>(weighed)), as<"y">(y));
}

inline constexpr window same{.left = 1, .right = 1};
struct layer_without_bias {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Embed>();
    return results_of(s, nn::layer_norm<Embed>(s, x, {.bias = false}));
  }
};
struct batch_statistics {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Embed, Pos>();
    return results_of(s, nn::batch_norm<Embed>(s, x, {.epsilon = 1e-3}));
  }
};
// A product and a convolution, each before a norm, or with that folded into it.
template <bool Folded>
struct before_norms {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto norm = [&]<class Channels>(Channels, const char* name, const auto& y) {
      if constexpr (Folded)
        return y;
      else
        return nn::batch_norm<Channels>(s / name, y);
    };
    const auto y =
        nn::convolution<Embed, Classes, nn::along<Pos, 3, same>>(s / "conv", x, {.bias = Folded});
    const auto z = relu(norm(Classes{}, "bn1", y));
    return norm(Embed{}, "bn2", nn::linear<Classes, Embed>(s / "linear", z));
  }
};
template <int Ignored = -100, int Quarters = 0>
struct entropy {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Classes>();
    const auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    return results_of(
        s, nn::cross_entropy<Classes>(x, targets,
                                      {.ignore_index = Ignored, .label_smoothing = Quarters / 4.}));
  }
};
template <bool Weighted>
struct binary {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos>(), y = s.param<"y", Batch, Pos>();
    if constexpr (Weighted)
      return results_of(
          s, nn::binary_cross_entropy_with_logits(x, y, s.input<"pos_weight", float, Pos>()));
    else
      return results_of(s, nn::binary_cross_entropy_with_logits(x, y));
  }
};

// A convolution, batch norm and relu: the product; scale and shift of each channel; the rest is
// one.
struct block {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto y = nn::convolution<Embed, Classes, nn::along<Pos, 3>>(s / "conv", x);
    return relu(nn::batch_norm<Classes>(s / "bn", y));
  }
};
static_assert(weft::testing::steps(inference<block>::make()) == 4);

}  // namespace

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(losses_and_normalizations_match_pytorch) {
  using weft::testing::check_reference, weft::testing::golden_trial;
  const tensor_file file(weft::testing::golden_file("losses.safetensors"));
  golden_trial<layer_without_bias>(file, "layer_norm.");
  golden_trial<batch_statistics>(file, "batch_norm.");
  check_reference<entropy<>>(file, "all.");
  check_reference<entropy<>>(file, "some.");
  golden_trial<entropy<-100, 1>>(file, "smooth.");
  check_reference<entropy<2, 2>>(file, "others.");
  check_reference<binary<false>>(file, "binary.");
  golden_trial<binary<true>>(file, "weighted.");
}

BOOST_AUTO_TEST_CASE(a_batch_norm_is_folded_into_the_layer_before_it) {
  module<before_norms<false>> net({.seed = 4});
  const auto p = net.parameters();
  for (std::size_t i = 0; i < p.count(); ++i)
    if (p[i].name.starts_with("bn"))
      for (std::size_t c = 0; c < p[i].values.size(); ++c)
        p[i].values[c] = 0.5f + static_cast<float>((7 * c + 3 * i) % 11) / 8;
  module<before_norms<true>> folded(
      folded_batch_norm<before_norms<true>>(p, {{"conv", "bn1"}, {"linear", "bn2"}}));
  array<float, Batch, Pos, Embed> x;
  std::size_t at = 0;
  for (float& e : x) e = static_cast<float>(at++ * 37 % 64) / 16 - 2;
  const auto y = net(arg<"x">(x)), z = folded(arg<"x">(x));
  // Sums of 36 and 7 products of order 1, with a rounded weight each.
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t e = 0; e < 12; ++e) BOOST_TEST(std::abs(y(b, i, e) - z(b, i, e)) < 1e-5f);
  BOOST_CHECK_THROW(folded_batch_norm<before_norms<true>>(p, {{"conv", "bn2"}}), weft::error);
  BOOST_CHECK_THROW(folded_batch_norm<before_norms<true>>(p, {{"other", "bn1"}}), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
