// Convolution against torch.nn.Conv1d, by tests/golden/convolution.py, and its gradients.
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
template <int N>
struct Places : axis<N> {};  // the number of windows
template <int N>
struct Tap : axis<N> {};
template <int N>
struct In : axis<N> {};
template <int N>
struct Out : axis<N> {};
struct Group : axis<3> {};
struct Pair : axis<2> {};
struct Channel : axis<5> {};

template <class... Axes, class Y>
constexpr auto results_of(scope s, shape<Axes...>, const Y& y) {
  const auto cotangent = s.input<"cotangent", float, Axes...>();
  return results(as<"loss">(sum<Axes...>(y * cotangent)), as<"y">(y));
}

template <class OutPos, class Taps, class In, class Out, window W = window{}, class... Groups>
struct conv1d {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Groups..., In>();
    const auto y = nn::convolution<Pos, OutPos, Taps, In, Out, W, Groups...>(s, x);
    return results_of(s, shape<Batch, OutPos, Groups..., Out>{}, y);
  }
};

// Depthwise convolution, as many groups as channels, written with windows and dot.
struct depthwise {
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Channel>();
    const auto weight = s.param<"weight", Channel, Tap<3>>();
    const auto bias = s.param<"bias", Channel>();
    const auto seen = windows<Pos, Pos, Tap<3>, window{.left = 1, .right = 1}>(x);
    return results_of(s, shape<Batch, Pos, Channel>{}, dot<Tap<3>>(seen, weight) + bias);
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
struct Halved : axis<up_to<3>> {};  // (6 + 1 - 3) / 2 + 1
struct Embed : axis<4> {};
struct layers {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Few, Group, Embed>() * s.param<"gain", Embed>();
    const auto same =
        nn::convolution<Few, Few, Tap<3>, Embed, Embed, window{.left = 2}>(s / "same", x);
    const auto y =
        nn::convolution<Few, Halved, Tap<3>, Embed, Embed, window{.stride = 2, .right = 1}, Group>(
            s / "grouped", x + same);
    return as<"loss">(sum<Batch, Halved, Group, Embed>(y * y));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution)

BOOST_AUTO_TEST_CASE(convolutions_match_pytorch) {
  const tensor_file file(weft::testing::golden_file("convolution.safetensors"));
  check<conv1d<Places<7>, Tap<3>, In<5>, Out<3>>>(file, "inside.");
  check<conv1d<Pos, Tap<1>, In<3>, Out<4>>>(file, "one.");
  check<conv1d<Pos, Tap<5>, In<6>, In<6>, window{.left = 2, .right = 2}>>(file, "same.");
  check<conv1d<Places<4>, Tap<4>, In<5>, Out<4>, window{.stride = 2, .left = 1, .right = 1}>>(
      file, "strided.");
  check<conv1d<Pos, Tap<3>, In<5>, Out<3>, window{.dilation = 3, .left = 3, .right = 3}>>(
      file, "dilated.");
  check<conv1d<Places<1>, Tap<9>, In<1>, Out<3>>>(file, "whole.");
  check<conv1d<Pos, Tap<3>, In<2>, Out<3>, window{.left = 1, .right = 1}, Group>>(file, "groups.");
  check<conv1d<Places<3>, Tap<2>, In<3>, In<3>,
               window{.stride = 3, .dilation = 4, .left = 2, .right = 2}, Pair>>(file, "sparse.");
  check<depthwise>(file, "depthwise.");
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
