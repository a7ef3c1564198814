// Rotations of pairs of elements, forward and backward.
#include "weft/ops/rotate.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "passes/graphs.hpp"
#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::op, weft::rotary_pairs, weft::testing::count, weft::testing::lengths,
    weft::testing::settings, weft::testing::trial, weft::testing::One, weft::testing::Two,
    weft::testing::Three, weft::testing::Seven;

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<9>> {};
struct Heads : weft::axis<3> {};
struct Numbers : weft::axis<70> {};
struct Half : weft::axis<35> {};
struct Some : weft::axis<17> {};

// Half-split and interleaved pairs: of all elements, of some, and a single pair; angles with axes
// that x lacks, and without axes that it has; the rotated axis outermost and innermost.
struct rotations {
  constexpr auto operator()(weft::scope s) const {
    using weft::rotate;
    constexpr auto neighbours = rotary_pairs::interleaved;
    auto x = s.input<"x", float, Batch, Pos, Heads, Numbers>();
    auto turned = s.input<"turned", float, Numbers, Pos>();
    auto seven = s.input<"seven", float, Pos, Seven>();
    auto two = s.input<"two", float, Pos, Two>();
    auto half = s.input<"half", float, Pos, Half>();
    auto some = s.input<"some", float, Some, Batch, Pos>();
    auto three = s.input<"three", float, Three>();
    auto one = s.input<"one", float, One>();
    return weft::results(
        as<"halves">(rotate<Numbers, Half>(x, cos(half), sin(half))),
        as<"neighbours">(rotate<Numbers, Half, neighbours>(x, cos(half), sin(half))),
        as<"part">(rotate<Numbers, Some>(x, cos(some), sin(some))),
        as<"part_of_neighbours">(rotate<Numbers, Some, neighbours>(x, cos(some), sin(some))),
        as<"outermost">(rotate<Numbers, Half>(turned, cos(half), sin(half))),
        as<"more_axes">(rotate<Numbers, Some>(turned, cos(some), sin(some))),
        as<"seven">(rotate<Seven, Three>(seven, cos(three), sin(three))),
        as<"seven_neighbours">(rotate<Seven, Three, neighbours>(seven, cos(three), sin(three))),
        as<"two">(rotate<Two, One>(two, cos(one), sin(one))),
        as<"one_of_seven">(rotate<Seven, One, neighbours>(seven, cos(one), sin(one))));
  }
};

// Learned angles and a learned operand.
template <rotary_pairs Which>
struct learned {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Batch, Pos, Heads, Seven>() * s.input<"scale", float, Pos>();
    auto angle = s.param<"angle", Pos, Three>();
    auto y = weft::rotate<Seven, Three, Which>(x, cos(angle), sin(angle) * 1.5);
    return as<"loss">(weft::sum<Batch, Pos, Heads, Seven>(y * y * y));
  }
};

// The gradient of the rotated operand is another rotation.
constexpr bool turns_back() {
  const weft::graph g = weft::training<learned<rotary_pairs::half_split>, "loss">::make();
  return count(g, op::rotate) == 2 && count(g, op::rotate_adjoint) == 2 && count(g, op::pad) == 0 &&
         count(g, op::concatenate) == 0;
}
static_assert(turns_back());

}  // namespace

BOOST_AUTO_TEST_SUITE(rotate)

BOOST_AUTO_TEST_CASE(rotations_match_the_reference_at_every_length) {
  for (const int pos : {0, 1, 3, 9}) trial<weft::inference<rotations>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(each_pair_is_rotated_by_its_angle) {
  weft::module<rotations, "seven", "seven_neighbours"> net;
  weft::array<float, Pos, Seven> x(2);
  weft::array<float, Three> angle;
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t t = 0; t < 2; ++t) x(t, i) = static_cast<float>(1 + 7 * t + i);
  for (std::size_t j = 0; j < 3; ++j) angle(j) = 0.5f + static_cast<float>(j);
  const auto all = net(weft::arg<"seven">(x), weft::arg<"three">(angle));
  const auto check = [&](const auto& y, auto first, auto second) {
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double a = x(t, first(j)), b = x(t, second(j)), by = angle(j);
        const double tolerance = 16 * 0x1p-24 * (std::abs(a) + std::abs(b));
        BOOST_TEST(std::abs(y(t, first(j)) - (a * std::cos(by) - b * std::sin(by))) <= tolerance);
        BOOST_TEST(std::abs(y(t, second(j)) - (b * std::cos(by) + a * std::sin(by))) <= tolerance);
      }
      BOOST_TEST(y(t, 6) == x(t, 6));
    }
  };
  check(
      all.get<"seven">(), [](std::size_t j) { return j; }, [](std::size_t j) { return j + 3; });
  check(
      all.get<"seven_neighbours">(), [](std::size_t j) { return 2 * j; },
      [](std::size_t j) { return 2 * j + 1; });
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences_and_the_reference) {
  settings s;
  s.ranges["x"] = {0.1, 0.5};
  s.ranges["angle"] = {0.2, 3};
  s.ranges["scale"] = {0.5, 1};
  for (const int pos : {1, 4, 9}) {
    s.lengths = lengths<Pos>(pos).lengths;
    trial<weft::training<learned<rotary_pairs::half_split>, "loss">>(s);
    trial<weft::training<learned<rotary_pairs::interleaved>, "loss">>(s);
  }
  s.lengths = lengths<Pos>(2).lengths;
  weft::testing::check_gradients<learned<rotary_pairs::half_split>>(s);
  weft::testing::check_gradients<learned<rotary_pairs::interleaved>>(s);
}

BOOST_AUTO_TEST_SUITE_END()
