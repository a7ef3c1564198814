// Losses and normalizations against torch.nn's, by tests/golden/losses.py.
#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_SUITE_END()
