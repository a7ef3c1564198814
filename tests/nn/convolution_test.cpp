// Convolution against torch.nn.Conv1d and Conv2d, by tests/golden/convolution.py, and its
// gradients.
#include "support/golden_file.hpp"
#include "weft/weft.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "support/central_differences.hpp"
#include "support/golden_model.hpp"

namespace {

using namespace weft;

struct Batch : axis<2> {};
struct Pos : axis<9> {};
struct Row : axis<6> {};
struct Column : axis<5> {};
template <int N>
struct In : axis<N> {};
template <int N>
struct Out : axis<N> {};
template <int N, int Groups>
using Grouped = nn::in_groups<In<N>, Groups>;

template <class... Axes>
constexpr auto results_of(scope s, const tensor<float, shape<Axes...>>& y) {
  const auto cotangent = s.input<"cotangent", float, Axes...>();
  return results(as<"loss">(sum<Axes...>(y * cotangent)), as<"y">(y));
}

template <class From, class Out, std::size_t Taps, window W = window{}, bool Bias = true>
struct conv1d {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, typename nn::detail::read_of<From>::channels>();
    const auto y = nn::convolution<From, Out, nn::along<Pos, Taps, W>>(s, x, {.bias = Bias});
    return results_of(s, y);
  }
};
template <class From, class Out, std::size_t Down, window OfDown, std::size_t Across,
          window OfAcross, bool Bias = true>
struct conv2d {
  constexpr auto operator()(scope s) const {
    using Channels = typename nn::detail::read_of<From>::channels;
    const auto x = s.param<"x", Batch, Channels, Row, Column>();
    const auto y = nn::convolution<From, Out, nn::along<Row, Down, OfDown>,
                                   nn::along<Column, Across, OfAcross>>(s, x, {.bias = Bias});
    return results_of(s, y);
  }
};

// The reference against PyTorch in double precision; in float32 on every target, within the error
// bounds of rounding.
template <class Model>
void check(const tensor_file& file, const std::string& prefix) {
  const auto s = weft::testing::check_reference<Model>(file, prefix);
  weft::testing::trial<inference<Model>>(s);
  weft::testing::trial<training<Model, "loss">>(s);
}

// A causal convolution with a residual, followed by a grouped one.
struct Few : axis<up_to<6>> {};
struct Embed : axis<4> {};
struct layers {
  constexpr auto operator()(scope s) const {
    constexpr window half{.stride = 2, .right = 1};
    const auto x = s.input<"x", float, Batch, Few, Embed>() * s.param<"gain", Embed>();
    const auto same =
        nn::convolution<Embed, Embed, nn::along<Few, 3, window{.left = 2}>>(s / "same", x);
    const auto y = nn::convolution<nn::in_groups<Embed, 2>, Embed, nn::along<Few, 3, half>>(
        s / "grouped", x + same);
    const auto each =
        nn::convolution<nn::in_groups<Embed, 4>, Embed, nn::along<Few, 2>>(s / "depthwise", same);
    return as<"loss">(sum<Batch, nn::convolved<Few, 3, half>, Embed>(y * y) +
                      sum<Batch, nn::convolved<Few, 2>, Embed>(each * each));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution)

BOOST_AUTO_TEST_CASE(convolutions_match_pytorch) {
  const tensor_file file(weft::testing::golden_file("convolution.safetensors"));
  constexpr window around{.left = 1, .right = 1};
  check<conv1d<In<5>, Out<3>, 3>>(file, "inside.");
  check<conv1d<In<3>, Out<4>, 1>>(file, "one.");
  check<conv1d<In<6>, In<6>, 5, window{.left = 2, .right = 2}>>(file, "same.");
  check<conv1d<In<5>, Out<4>, 4, window{.stride = 2, .left = 1, .right = 1}>>(file, "strided.");
  check<conv1d<In<5>, Out<3>, 3, window{.dilation = 3, .left = 3, .right = 3}>>(file, "dilated.");
  check<conv1d<In<1>, Out<3>, 9>>(file, "whole.");
  check<conv1d<Grouped<6, 3>, Out<9>, 3, around>>(file, "groups.");
  check<conv1d<Grouped<6, 2>, In<6>, 2, window{.stride = 3, .dilation = 4, .left = 2, .right = 2}>>(
      file, "sparse.");
  check<conv1d<Grouped<5, 5>, In<5>, 3, around, false>>(file, "depthwise.");
  check<conv1d<Grouped<5, 5>, Out<10>, 4>>(file, "wider.");
  check<
      conv1d<In<5>, Out<3>, 5, window{.left = 2, .right = 2, .outside = padding_mode::reflected}>>(
      file, "reflected.");
  check<conv1d<In<5>, Out<3>, 3,
               window{.stride = 2, .left = 3, .right = 3, .outside = padding_mode::replicated}>>(
      file, "replicated.");
}

BOOST_AUTO_TEST_CASE(convolutions_over_two_axes_match_pytorch) {
  const tensor_file file(weft::testing::golden_file("convolution.safetensors"));
  check<conv2d<In<3>, Out<4>, 3, window{.stride = 2, .left = 1, .right = 1}, 2,
               window{.dilation = 2}>>(file, "image.");
  check<conv2d<In<3>, Out<4>, 1, window{}, 3,
               window{.left = 1, .right = 1, .outside = padding_mode::reflected}>>(file, "across.");
  check<conv2d<Grouped<4, 2>, In<4>, 3, window{}, 1, window{}, false>>(file, "down.");
}

BOOST_AUTO_TEST_CASE(gradients_of_convolutions_match_central_differences) {
  for (const int places : {2, 5, 6})
    weft::testing::check_gradients<layers>(weft::testing::lengths<Few>(places));
}

BOOST_AUTO_TEST_CASE(gradients_of_convolutions_match_the_reference_at_every_length) {
  for (const int places : {0, 1, 2, 5, 6}) {
    auto s = weft::testing::lengths<Few>(places);
    s.tolerance = 1e-4;
    weft::testing::trial<training<layers, "loss">>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
