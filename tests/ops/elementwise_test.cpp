// Elementwise operations beyond those of tests/table: of numbers, of several types, of NaN, and
// without operands.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "support/axes.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::lengths, weft::testing::settings, weft::testing::trial, weft::testing::One,
    weft::testing::Three, weft::testing::Seventeen, weft::testing::Hundred;

struct Pos : weft::axis<weft::up_to<20>> {};
struct KeyPos : weft::alias<Pos> {};

// Numbers and axes as operands, operands without a common axis, selections and casts.
struct choices {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::cast;
    auto a = s.input<"a", float, Three, Hundred>();
    auto b = s.param<"b", Hundred>();
    auto c = s.param<"c", Seventeen>();
    auto e = s.param<"e", One>();
    auto i = s.input<"i", std::int32_t, Hundred, Three>();
    auto j = s.input<"j", std::int32_t, Three>();
    auto t = s.input<"t", bool, Hundred>();
    auto u = s.input<"u", bool, Three>();
    auto large = s.input<"large", float, Three, Hundred>();
    auto mask = (a < b) && !t;
    return weft::results(
        as<"outer">(c * e * b), as<"numbers">((2.5f - a) / 3 + 1 - 0.1 * a),
        as<"reciprocal">(1 / (a + 2)), as<"silu">(silu(a * 5)), as<"of_axis">(sqrt(Hundred{}) * a),
        as<"broadcast">(weft::broadcast<Three, Hundred>(c)),
        as<"broadcast_int">(weft::broadcast<Seventeen>(i)), as<"int_minimum">(minimum(i, 2)),
        as<"less_equal">(a <= 0.25f), as<"greater">(a > b), as<"greater_equal">(b >= a),
        as<"not_equal">(i != 3), as<"int_greater">(5 > i), as<"where">(where(mask, a, b)),
        as<"where_number">(where(u, b, -1)), as<"where_int">(where(t, i, j)),
        as<"where_bool">(where(t, u, t)), as<"mask_last">(where(t, j, 7)),
        as<"float_of_int">(cast<float>(i)), as<"float_of_bool">(cast<float>(t)),
        as<"int_of_float">(cast<std::int32_t>(large)), as<"int_of_bool">(cast<std::int32_t>(u)),
        as<"bool_of_float">(cast<bool>(a)), as<"bool_of_int">(cast<bool>(j)),
        as<"float_of_float">(cast<float>(b)));
  }
};

// Functions of NaN, zeros of both signs, infinities and subnormal numbers: x has both axes, y and z
// are broadcast over one each; alone, in a fusion group and after a contraction.
struct special {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::cast;
    auto x = s.input<"x", float, Nine, Hundred>();
    auto y = s.param<"y", Hundred>();
    auto z = s.input<"z", float, Nine>();
    auto missing = x != x;
    auto loss = weft::sum<Nine, Hundred>(where(missing || !(x < 1) || !(x > -1), 0, x) * y);
    return weft::results(
        as<"less">(x < y), as<"less_equal">(x <= z), as<"greater">(x > y),
        as<"greater_equal">(x >= z), as<"equal">(x == y), as<"not_equal">(x != z),
        as<"not_itself">(missing), as<"itself">(z == z), as<"not_0">(y != 0.0f),
        as<"bool">(cast<bool>(x)), as<"int">(cast<std::int32_t>(x)),
        as<"not_less">(!(x < z) && cast<bool>(y)), as<"either">(cast<bool>(x) || (x == 0)),
        as<"chosen">(where(x < y, x, z)), as<"filled">(where(missing, y, x * 2)),
        as<"maximum">(maximum(x, y)), as<"minimum">(minimum(x, z)), as<"relu">(relu(x)),
        as<"clamped">(maximum(minimum(x, 1), -1)), as<"max">(weft::max<Hundred>(x)),
        as<"row">(relu(weft::dot<Hundred>(x, y))), as<"softmax">(weft::softmax<Hundred>(x)),
        as<"loss">(loss));
  }
  struct Nine : weft::axis<9> {};
};
settings special_numbers() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double denormal = 0x1p-140;
  const double numbers[]{std::nan(""), 0, -0.0, inf, -inf, denormal, -denormal, 1, -0.5};
  settings s;
  for (std::size_t i = 0; i < 900; ++i)
    s.given["x"].push_back(numbers[(i / 100 < 7 ? i : i % 3 + 6) % 9]);  // some rows are finite
  for (std::size_t i = 0; i < 100; ++i) s.given["y"].push_back(numbers[i / 9 % 9]);
  s.given["z"].assign(std::begin(numbers), std::end(numbers));
  return s;
}

// Expressions without operands, and run-time lengths.
struct sources {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::positions;
    auto x = s.input<"x", float, Three, Pos>();
    auto p = s.param<"p", Pos, Seventeen>();
    auto causal = positions<KeyPos>() <= positions<Pos>();
    return weft::results(as<"positions">(positions<Pos>()), as<"causal">(causal),
                         as<"masked">(where(causal, x, -weft::infinity)), as<"parameter">(x * p),
                         as<"turned">(p - x), as<"length">(weft::length<Pos>()),
                         as<"area">(weft::length<Pos, Three, KeyPos>()),
                         as<"scaled">(x / weft::sqrt(Pos{})), as<"constant">(weft::constant(1.5f)),
                         as<"filled">(weft::broadcast<Pos>(weft::constant(true))),
                         as<"keys">(x + weft::cast<float>(positions<KeyPos>())));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(elementwise, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(numbers_selections_and_casts_match_the_reference) {
  settings s;
  s.ranges["i"] = s.ranges["j"] = {-5, 6};
  s.ranges["large"] = {-50, 50};
  trial<weft::inference<choices>>(s);
}

BOOST_AUTO_TEST_CASE(nan_zeros_infinities_and_subnormals_follow_ieee_754) {
  trial<weft::inference<special>>(special_numbers());
}

BOOST_AUTO_TEST_CASE(where_keeps_nan_from_gradients) {
  settings s = special_numbers();
  s.given.erase("y");
  trial<weft::training<special, "loss">>(s);
}

BOOST_AUTO_TEST_CASE(constants_positions_and_run_time_lengths_match_the_reference) {
  for (const int pos : {1, 7, 20}) trial<weft::inference<sources>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(positions_and_masks_match_the_reference_at_length_0) {
  trial<weft::inference<sources, "positions", "causal", "masked", "parameter", "length">>(
      lengths<Pos>(0));
}

BOOST_AUTO_TEST_SUITE_END()
