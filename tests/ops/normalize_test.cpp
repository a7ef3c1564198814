// Softmax and normalization along inner, outer and several axes.
#include "weft/ops/normalize.hpp"

#include <boost/test/unit_test.hpp>

#include "support/axes.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::lengths, weft::testing::settings, weft::testing::trial, weft::testing::One,
    weft::testing::Three, weft::testing::Seventeen, weft::testing::Hundred;

struct Pos : weft::axis<weft::up_to<20>> {};
struct KeyPos : weft::alias<Pos> {};

struct fixed {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::layer_norm, weft::log_softmax, weft::normalize, weft::rms_norm,
        weft::softmax;
    auto x = s.input<"x", float, Three, Seventeen, Hundred>();
    auto y = s.input<"y", float, One, Three>();
    auto gain = s.param<"gain", Seventeen>();
    auto bias = s.param<"bias", Hundred, Seventeen>();
    return weft::results(
        as<"softmax_inner">(softmax<Hundred>(x)), as<"softmax_outer">(softmax<Three>(x)),
        as<"softmax_two">(softmax<Seventeen, Hundred>(x)),
        as<"softmax_apart">(softmax<Hundred, Three>(x)), as<"softmax_one">(softmax<One>(y)),
        as<"softmax_all">(softmax<Three, Seventeen, Hundred>(x)),
        as<"log_inner">(log_softmax<Hundred>(x)), as<"log_outer">(log_softmax<Seventeen>(x)),
        as<"log_apart">(log_softmax<Three, Hundred>(x)), as<"log_one">(log_softmax<One>(y)),
        as<"normalize_inner">(normalize<Hundred>(x)),
        as<"normalize_middle">(normalize<Seventeen>(x, {.epsilon = 1e-3})),
        as<"normalize_two">(normalize<Hundred, Seventeen>(x)),
        as<"normalize_apart">(normalize<Three, Hundred>(x)),
        as<"layer_norm">(layer_norm<Seventeen>(x, gain, gain)),
        as<"layer_norm_two">(layer_norm<Hundred, Seventeen>(x, bias, gain)),
        as<"rms_inner">(rms_norm<Hundred>(x)),
        as<"rms_outer">(rms_norm<Three>(x, {.epsilon = 1e-3})), as<"rms_one">(rms_norm<One>(y)),
        as<"rms_norm">(rms_norm<Seventeen>(x, gain)),
        as<"rms_norm_two">(rms_norm<Hundred, Seventeen>(x, bias, {.epsilon = 1e-6})));
  }
};

struct bounded {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::positions, weft::where;
    auto x = s.input<"x", float, Three, Pos, KeyPos>();
    auto masked = where(positions<KeyPos>() <= positions<Pos>(), x, -weft::infinity);
    auto none = where(positions<KeyPos>() < positions<Pos>(), x, -weft::infinity);
    return weft::results(
        as<"softmax">(weft::softmax<KeyPos>(x)), as<"outer">(weft::softmax<Pos>(x)),
        as<"both">(weft::softmax<Pos, KeyPos>(x)), as<"causal">(weft::softmax<KeyPos>(masked)),
        as<"row_of_nothing">(weft::softmax<KeyPos>(none)), as<"log">(weft::log_softmax<Pos>(x)),
        as<"log_causal">(weft::log_softmax<KeyPos>(masked)),
        as<"normalize">(weft::normalize<Three, KeyPos>(x)),
        as<"normalize_positions">(weft::normalize<Three, Pos>(x)),
        as<"rms_norm">(weft::rms_norm<Three, KeyPos>(x)));
  }
};

settings wide(settings s = {}) {
  s.ranges["x"] = {-4, 4};
  s.ranges["y"] = {-4, 4};
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rows)

BOOST_AUTO_TEST_CASE(softmax_and_normalizations_along_fixed_axes_match_the_reference) {
  trial<weft::inference<fixed>>(wide());
}

BOOST_AUTO_TEST_CASE(softmax_and_normalizations_along_run_time_lengths_match_the_reference) {
  for (const int pos : {0, 1, 2, 11, 20}) trial<weft::inference<bounded>>(wide(lengths<Pos>(pos)));
}

BOOST_AUTO_TEST_SUITE_END()
