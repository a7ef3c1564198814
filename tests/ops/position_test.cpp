// Positional encodings against their formulas, and the properties that they are chosen for.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/nn/position/fourier.hpp"
#include "weft/nn/position/naive.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/nn/position/sinusoidal.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/run/module.hpp"

namespace {

using weft::testing::lengths;
using weft::testing::settings;
using weft::testing::trial;

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<40>> {};
struct KeyPos : weft::alias<Pos> {};
struct Four : weft::axis<4> {};
struct Five : weft::axis<5> {};
struct Seven : weft::axis<7> {};
struct Six : weft::axis<6> {};
struct HeadDim : weft::axis<20> {};
struct Heads : weft::axis<3> {};
struct Freq : weft::axis<10> {};

struct absolute {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Pos>();  // only its length is of use
    return weft::results(
        as<"four">(nn::sinusoidal<Pos, Four>() + x * 0),
        as<"odd">(nn::sinusoidal<Pos, Five>() + x * 0),
        as<"base">(nn::sinusoidal<Pos, Six>(50) + x * 0),
        as<"index">(nn::index_positions<Pos, Four>() + x * 0),
        as<"share">(nn::relative_index_positions<Pos, Four>() + x * 0),
        as<"learned">(nn::learned_sinusoidal<Pos, Seven>(s) + x * 0),
        as<"fourier">(nn::fourier_positions<Pos, Six, Seven, Five>(s / "fourier") + x * 0));
  }
};

struct rotations {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    namespace nn = weft::nn;
    using nn::rotary_pairs;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto at = s.input<"at", std::int32_t, Batch, Pos>();
    auto w = nn::learned_frequencies<Freq>(s / "rotary", 20);
    return weft::results(
        as<"halves">(nn::rotary<Pos, HeadDim>(q)),
        as<"neighbours">(nn::rotary<Pos, HeadDim, rotary_pairs::neighbours>(q)),
        as<"part">(nn::rotary<Pos, HeadDim, rotary_pairs::halves, 8>(q)),
        as<"part_of_neighbours">(nn::rotary<Pos, HeadDim, rotary_pairs::neighbours, 2>(q)),
        as<"at">(nn::rotary<Pos, HeadDim>(q, at)),
        as<"linear">(nn::rotary<Pos, HeadDim>(q, {.scaling = nn::linear_scaling(4)})),
        as<"ntk">(nn::rotary<Pos, HeadDim>(q, {.scaling = nn::ntk_scaling(4)})),
        as<"yarn">(nn::rotary<Pos, HeadDim>(q, {.base = 500, .scaling = nn::yarn_scaling(4, 64)})),
        as<"learned">(nn::rotary<Pos, HeadDim>(q, w)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(position)

BOOST_AUTO_TEST_CASE(absolute_encodings_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<absolute>>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_CASE(rotations_equal_the_reference_at_every_length) {
  for (int n : {0, 1, 3, 40}) trial<weft::inference<rotations>>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_SUITE_END()
