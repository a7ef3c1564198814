// Padding and reversal, against their formulas.
#include "weft/ops/pad.hpp"

#include <boost/test/unit_test.hpp>

#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "support/thrown_by.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as, weft::flip, weft::padding_mode, weft::testing::lengths, weft::testing::Two,
    weft::testing::Three, weft::testing::Five;

struct Pos : weft::axis<weft::up_to<9>> {};
struct Whole : weft::axis<weft::up_to<14>> {};
struct Ten : weft::axis<10> {};
struct Wide : weft::axis<5> {};
template <padding_mode Mode>
inline constexpr weft::padding bounded{.left = 3, .right = 2, .mode = Mode};
template <padding_mode Mode>
inline constexpr weft::padding fixed{.left = 1, .right = 4, .mode = Mode};

// In a row, in a column, and of integers.
template <padding_mode Mode>
struct pads {
  constexpr auto operator()(weft::scope s) const {
    using weft::pad;
    auto x = s.input<"x", float, Two, Pos, Three>();
    auto y = s.input<"y", float, Three, Five>();
    auto i = s.input<"i", std::int32_t, Pos, Three>();
    return weft::results(as<"rows">(pad<Pos, Whole, bounded<Mode>>(x)),
                         as<"fixed">(pad<Five, Ten, fixed<Mode>>(y)),
                         as<"computed">(exp(pad<Pos, Whole, bounded<Mode>>(exp(x)))),
                         as<"integers">(pad<Pos, Whole, bounded<Mode>>(i)));
  }
};
struct others {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Two, Pos, Three>();
    auto y = s.input<"y", float, Three, Five>();
    auto i = s.input<"i", std::int32_t, Pos, Three>();
    constexpr auto zeros = padding_mode::zeros;
    return weft::results(as<"rows">(weft::pad<Pos, Whole, bounded<zeros>>(x, -weft::infinity)),
                         as<"fixed">(weft::pad<Five, Ten, fixed<zeros>>(y, 7)),
                         as<"integers">(weft::pad<Pos, Whole, bounded<zeros>>(i, -3)),
                         as<"flipped">(flip<Pos>(x)), as<"flipped_inner">(flip<Three>(x) * x),
                         as<"flipped_fixed">(flip<Five>(flip<Three>(y))));
  }
};

struct gradients {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Three, Five>();
    auto w = s.input<"w", float, Ten>();
    auto v = s.input<"v", float, Five>();
    using weft::pad;
    return as<"loss">(
        weft::sum<Three, Ten>((pad<Five, Ten, fixed<padding_mode::reflected>>(x) +
                               pad<Five, Ten, fixed<padding_mode::replicated>>(x * x) +
                               pad<Five, Ten, fixed<padding_mode::zeros>>(x, 2) * w) *
                              w) +
        weft::sum<Three, Five>(flip<Five>(x) * x * v));
  }
};

// The element of the axis that stands at index t; -1: none.
int element_at(padding_mode mode, int t, int length) {
  if (mode == padding_mode::replicated) return std::clamp(t, 0, length - 1);
  if (mode == padding_mode::reflected) return t < 0 ? -t : t < length ? t : 2 * (length - 1) - t;
  return t >= 0 && t < length ? t : -1;
}

template <class Model>
void check(padding_mode mode, int pos, float fill) {
  weft::module<Model> net;
  weft::array<float, Two, Pos, Three> x(static_cast<std::size_t>(pos));
  weft::array<float, Three, Five> y;
  weft::array<std::int32_t, Pos, Three> i(static_cast<std::size_t>(pos));
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < x.template length<Pos>(); ++t)
      for (std::size_t c = 0; c < 3; ++c)
        x(b, t, c) = static_cast<float>(i(t, c) = static_cast<int>(3 * t + c)) +
                     0.5f * static_cast<float>(b);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 5; ++c) y(a, c) = static_cast<float>(5 * a + c);
  const auto result = net(weft::arg<"x">(x), weft::arg<"y">(y), weft::arg<"i">(i));
  const auto rows = result.template get<"rows">();
  const auto integers = result.template get<"integers">();
  BOOST_TEST_REQUIRE(rows.template length<Whole>() == static_cast<std::size_t>(pos + 5));
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < rows.template length<Whole>(); ++t)
      for (std::size_t c = 0; c < 3; ++c) {
        const int at = element_at(mode, static_cast<int>(t) - 3, pos);
        const auto from = static_cast<std::size_t>(at);
        BOOST_TEST(rows(b, t, c) == (at < 0 ? fill : x(b, from, c)));
        BOOST_TEST(integers(t, c) == (at < 0 ? (fill < 0 ? -3 : 0) : i(from, c)));
      }
  const auto fixed = result.template get<"fixed">();
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t t = 0; t < 10; ++t) {
      const int at = element_at(mode, static_cast<int>(t) - 1, 5);
      BOOST_TEST(fixed(a, t) == (at < 0 ? (fill < 0 ? 7 : 0) : y(a, static_cast<std::size_t>(at))));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pad)

BOOST_AUTO_TEST_CASE(padding_is_zeros_or_elements_of_the_axis) {
  for (const int pos : {0, 1, 9}) check<pads<padding_mode::zeros>>(padding_mode::zeros, pos, 0);
  for (const int pos : {4, 9})
    check<pads<padding_mode::reflected>>(padding_mode::reflected, pos, 0);
  for (const int pos : {1, 2, 9})
    check<pads<padding_mode::replicated>>(padding_mode::replicated, pos, 0);
  for (const int pos : {0, 1, 9}) check<others>(padding_mode::zeros, pos, -weft::infinity);
}

BOOST_AUTO_TEST_CASE(what_is_too_short_for_its_padding_is_refused) {
  const auto run = [](auto net, std::size_t pos) {
    weft::array<float, Two, Pos, Three> x(pos);
    weft::array<float, Three, Five> y;
    weft::array<std::int32_t, Pos, Three> i(pos);
    net(weft::arg<"x">(x), weft::arg<"y">(y), weft::arg<"i">(i));
  };
  for (const std::size_t pos : {0u, 1u, 3u})
    BOOST_CHECK_THROW(run(weft::module<pads<padding_mode::reflected>>(), pos), weft::error);
  BOOST_CHECK_THROW(run(weft::module<pads<padding_mode::replicated>>(), 0), weft::error);
}

BOOST_AUTO_TEST_CASE(flipped_axes_are_in_reverse_order) {
  weft::module<others> net;
  weft::array<float, Two, Pos, Three> x(4);
  weft::array<float, Three, Five> y;
  weft::array<std::int32_t, Pos, Three> i(4);
  for (std::size_t k = 0; k < 24; ++k) x(k / 12, k / 3 % 4, k % 3) = static_cast<float>(k * k);
  for (std::size_t k = 0; k < 15; ++k) y(k / 5, k % 5) = static_cast<float>(k * k);
  const auto result = net(weft::arg<"x">(x), weft::arg<"y">(y), weft::arg<"i">(i));
  for (std::size_t k = 0; k < 24; ++k)
    BOOST_TEST(result.get<"flipped">()(k / 12, k / 3 % 4, k % 3) ==
               x(k / 12, 3 - k / 3 % 4, k % 3));
  for (std::size_t k = 0; k < 15; ++k)
    BOOST_TEST(result.get<"flipped_fixed">()(k / 5, k % 5) == y(2 - k / 5, 4 - k % 5));
}

BOOST_AUTO_TEST_CASE(padded_and_flipped_tensors_match_the_reference) {
  for (const int pos : {4, 9}) {
    weft::testing::trial<weft::inference<pads<padding_mode::reflected>>>(lengths<Pos>(pos));
    weft::testing::trial<weft::inference<pads<padding_mode::replicated>>>(lengths<Pos>(pos));
  }
  for (const int pos : {0, 1, 9}) weft::testing::trial<weft::inference<others>>(lengths<Pos>(pos));
  weft::testing::gradient_trial<gradients>();
}

BOOST_AUTO_TEST_SUITE_END()
