// Windows along an axis, and convolution over them.
#include "weft/ops/windows.hpp"

#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::op, weft::testing::count, weft::testing::lengths, weft::testing::settings,
    weft::testing::trial, weft::testing::One, weft::testing::Two, weft::testing::Three,
    weft::testing::Six;

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<20>> {};
struct SamePos : weft::alias<Pos> {};
struct Fixed : weft::axis<9> {};
struct In : weft::axis<5> {};
struct Out : weft::axis<3> {};
struct Inside : weft::axis<weft::up_to<18>> {};   // 20 - 3 + 1
struct Halved : weft::axis<weft::up_to<10>> {};   // (20 + 1 + 1 - 3) / 2 + 1
struct Dilated : weft::axis<weft::up_to<17>> {};  // 20 + 1 - 2 * 2
struct Apart : weft::axis<weft::up_to<5>> {};     // (20 - 2) / 4 + 1

struct looks {
  constexpr auto operator()(weft::scope s) const {
    using weft::windows;
    auto x = s.input<"x", float, Batch, Pos, In>();
    auto i = s.input<"i", std::int32_t, In, Pos>();
    auto b = s.input<"b", bool, Pos>();
    return weft::results(
        as<"inside">(windows<Pos, Inside, Three>(x)),
        as<"causal">(windows<Pos, Pos, Three, weft::window{.left = 2}>(x)),
        as<"same">(windows<Pos, SamePos, Three, weft::window{.left = 1, .right = 1}>(x)),
        as<"halved">(
            windows<Pos, Halved, Three, weft::window{.stride = 2, .left = 1, .right = 1}>(x)),
        as<"dilated">(windows<Pos, Dilated, Three, weft::window{.dilation = 2, .right = 1}>(i)),
        as<"apart">(windows<Pos, Apart, Two, weft::window{.stride = 4}>(x)),
        as<"one">(windows<Pos, Pos, One>(b)),
        as<"flags">(windows<Pos, Pos, Two, weft::window{.right = 1}>(b)));
  }
};

// Without padding nothing is copied: the contraction reads strided windows of the input.
struct unpadded {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, In>();
    return weft::nn::convolution<In, Out, weft::nn::along<Pos, 3>>(s, x);
  }
};
static_assert(weft::testing::steps(weft::inference<unpadded>::make()) == 1);

struct layers {
  constexpr auto operator()(weft::scope s) const {
    using weft::nn::convolution, weft::nn::convolved, weft::nn::along, weft::window;
    auto x = s.param<"x", Batch, Pos, In>() * s.input<"scale", float, Pos>();
    constexpr window half{.stride = 2, .left = 1, .right = 1}, gaps{.stride = 4},
        holes{.dilation = 2, .right = 1};
    auto same = convolution<In, Out, along<Pos, 3, window{.left = 2}>>(s / "same", x);
    auto y = weft::tanh(same);
    struct Turned : weft::axis<4> {};
    auto halved = convolution<Out, Turned, along<Pos, 3, half>>(s / "halved", y);
    auto apart = convolution<In, Turned, along<Pos, 2, gaps>>(s / "apart", x);
    auto dilated = convolution<In, Turned, along<Pos, 3, holes>>(s / "dilated", x);
    auto total = [](auto v) { return weft::sum<Batch, Turned>(v * v); };
    return as<"loss">(weft::sum<convolved<Pos, 3, half>>(total(halved)) +
                      weft::sum<convolved<Pos, 2, gaps>>(total(apart)) +
                      weft::sum<convolved<Pos, 3, holes>>(total(dilated)));
  }
};

struct fixed {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Fixed, In>();
    constexpr weft::window six{.stride = 2, .left = 0, .right = 3};
    auto y = weft::nn::convolution<In, Out, weft::nn::along<Fixed, 6, six>>(s, x);
    return as<"loss">(weft::sum<weft::nn::convolved<Fixed, 6, six>, Out>(y * y));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(windows)

BOOST_AUTO_TEST_CASE(windows_match_the_reference_at_every_length) {
  for (const int pos : {1, 2, 3, 4, 5, 6, 19, 20}) trial<weft::inference<looks>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(convolutions_without_padding_match_the_reference) {
  for (const int pos : {0, 2, 3, 20}) trial<weft::inference<unpadded>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_add_up_where_windows_overlap) {
  settings s;
  for (const auto* name : {"x", "same.weight", "halved.weight", "apart.weight", "dilated.weight"})
    s.ranges[name] = {0.1, 0.5};
  s.ranges["scale"] = {0.5, 1};
  s.lengths = lengths<Pos>(7).lengths;
  weft::testing::check_gradients<layers>(s);
  for (const int pos : {1, 4, 7, 20}) {
    s.lengths = lengths<Pos>(pos).lengths;
    trial<weft::training<layers, "loss">>(s);
  }
  weft::testing::gradient_trial<fixed>();
}

BOOST_AUTO_TEST_SUITE_END()
