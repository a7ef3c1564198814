// Functions that are composed of others, or whose results are kinked: values and gradients against
// formulas over the whole range of float, at kinks, infinities and NaN, on every target.
#include "weft/ops/functions.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "kernels/targets.hpp"
#include "weft/weft.hpp"

namespace {

using weft::as;
using weft::kernels::on_every_target;

constexpr float special[]{0,       -0.0f, HUGE_VALF,  -HUGE_VALF, NAN,    1e-40f,
                          -1e-40f, 0.3f,  -0.3f,      0.5f,       -0.5f,  0.7f,
                          -0.7f,   1.5f,  2.5f,       -2.5f,      20,     21,
                          -1,      3,     8388607.5f, 88.7f,      -17.4f, -0.99999994f};
// Four numbers of each sign for each exponent.
constexpr int ordinary = 255 * 8;
struct N : weft::axis<ordinary + std::size(special)> {};

float number(std::size_t i) {
  if (i >= ordinary) return special[i - ordinary];
  const float size =
      std::ldexp(1 + 0.247f * static_cast<float>(i % 4), static_cast<int>(i / 8) - 127);
  return i % 8 < 4 ? size : -size;
}

struct functions {
  constexpr auto operator()(weft::scope s) const {
    const auto of = [&]<weft::fixed_string Name>() { return s.param<Name, N>(); };
    const auto total = [](const auto&... y) { return (weft::sum<N>(y) + ...); };
    auto abs = weft::abs(of.template operator()<"abs">());
    auto sign = weft::sign(of.template operator()<"sign">());
    auto clamp = weft::clamp(of.template operator()<"clamp">(), -1, 3);
    auto empty = weft::clamp(of.template operator()<"empty">(), 3, -1);
    auto floor = weft::floor(of.template operator()<"floor">());
    auto ceil = weft::ceil(of.template operator()<"ceil">());
    auto round = weft::round(of.template operator()<"round">());
    auto rsqrt = weft::rsqrt(of.template operator()<"rsqrt">());
    auto log1p = weft::log1p(of.template operator()<"log1p">());
    auto expm1 = weft::expm1(of.template operator()<"expm1">());
    auto softplus = weft::softplus(of.template operator()<"softplus">());
    auto elu = weft::elu(of.template operator()<"elu">(), 2);
    auto leaky = weft::leaky_relu(of.template operator()<"leaky_relu">(), 0.25);
    auto loss = total(abs, sign, clamp, empty, floor, ceil, round) +
                total(rsqrt, log1p, expm1, softplus, elu, leaky);
    return weft::results(as<"loss">(loss), as<"abs">(abs), as<"sign">(sign), as<"clamp">(clamp),
                         as<"empty">(empty), as<"floor">(floor), as<"ceil">(ceil),
                         as<"round">(round), as<"rsqrt">(rsqrt), as<"log1p">(log1p),
                         as<"expm1">(expm1), as<"softplus">(softplus), as<"elu">(elu),
                         as<"leaky_relu">(leaky));
  }
};

struct formula {
  double (*value)(double);
  double (*slope)(double);
  double ulps = 0;  // of the value; in parts of 2^-24 of 1 + the slope, too
};
double zero(double) {
  return 0;
}
template <weft::fixed_string Name>
constexpr formula formula_of{};
template <>
constexpr formula formula_of<"abs">{[](double x) { return std::abs(x); },
                                    [](double x) { return (x > 0) - (x < 0) + 0.0; }};
template <>
constexpr formula formula_of<"sign">{[](double x) { return (x > 0) - (x < 0) + 0.0; }, zero};
template <>
constexpr formula formula_of<"clamp">{[](double x) { return x < -1  ? -1
                                                            : x > 3 ? 3
                                                                    : x; },
                                      [](double x) { return x < -1 || x > 3 ? 0.0 : 1.0; }};
template <>
constexpr formula formula_of<"empty">{[](double x) { return std::isnan(x) ? x : -1; },
                                      [](double x) { return std::isnan(x) ? 1.0 : 0.0; }};
template <>
constexpr formula formula_of<"floor">{[](double x) { return std::floor(x); }, zero};
template <>
constexpr formula formula_of<"ceil">{[](double x) { return std::ceil(x); }, zero};
template <>
constexpr formula formula_of<"round">{[](double x) { return std::nearbyint(x); }, zero};
template <>
constexpr formula formula_of<"rsqrt">{[](double x) { return 1 / std::sqrt(x); },
                                      [](double x) { return -0.5 / (x * std::sqrt(x)); }, 2};
template <>
constexpr formula formula_of<"log1p">{[](double x) { return std::log1p(x); },
                                      [](double x) { return 1 / (1 + x); }, 2};
template <>
constexpr formula formula_of<"expm1">{[](double x) { return std::expm1(x); },
                                      [](double x) { return std::exp(x); }, 2};
template <>
constexpr formula formula_of<"softplus">{
    [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); },
    [](double x) { return x > 20 ? 1 : 1 / (1 + std::exp(-x)); }, 4};
template <>
constexpr formula formula_of<"elu">{[](double x) { return x > 0 ? x : 2 * std::expm1(x); },
                                    [](double x) { return x > 0 ? 1 : 2 * std::exp(x); }, 2};
template <>
constexpr formula formula_of<"leaky_relu">{[](double x) { return x > 0 ? x : 0.25 * x; },
                                           [](double x) { return x > 0 ? 1 : 0.25; }};

bool is_right(float got, double expected, double tolerance) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest)) return std::isnan(got);
  if (nearest == got)
    return got != 0 || std::signbit(got) == std::signbit(nearest) || tolerance > 0;
  return std::abs(static_cast<double>(got) - expected) <= tolerance;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions_of_torch)

BOOST_AUTO_TEST_CASE(functions_have_the_values_and_gradients_of_pytorch) {
  weft::trainer<functions> t;
  for (const auto* name : {"abs", "sign", "clamp", "empty", "floor", "ceil", "round", "rsqrt",
                           "log1p", "expm1", "softplus", "elu", "leaky_relu"}) {
    const auto x = t.parameters().find(name).values;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(i);
  }
  on_every_target([&](const weft::kernels::table&) {
    t.compute_gradients();
    weft::module<functions> net(t.parameters());
    const auto all = net();
    const auto check = [&]<weft::fixed_string Name>() {
      const formula& f = formula_of<Name>;
      const auto slope = t.gradients().find(Name.view()).values;
      const auto y = all.template get<Name>();
      int wrong = 0;
      for (std::size_t i = 0; i < slope.size() && wrong < 5; ++i) {
        const double x = static_cast<double>(number(i)), unit = f.ulps * 0x1p-24;
        const double value = f.value(x), expected = f.slope(x);
        const bool right = is_right(y(i), value, 2 * unit * std::abs(value) + f.ulps * 0x1p-149) &&
                           is_right(slope[i], expected, unit * (1 + 2 * std::abs(expected)));
        wrong += !right;
        BOOST_TEST(right, Name.view() << " of " << number(i) << " is " << y(i) << ", not " << value
                                      << ", with slope " << slope[i] << ", not " << expected);
      }
    };
    check.template operator()<"abs">();
    check.template operator()<"sign">();
    check.template operator()<"clamp">();
    check.template operator()<"empty">();
    check.template operator()<"floor">();
    check.template operator()<"ceil">();
    check.template operator()<"round">();
    check.template operator()<"rsqrt">();
    check.template operator()<"log1p">();
    check.template operator()<"expm1">();
    check.template operator()<"softplus">();
    check.template operator()<"elu">();
    check.template operator()<"leaky_relu">();
  });
}

BOOST_AUTO_TEST_CASE(isnan_and_isfinite_are_those_of_ieee_754) {
  struct model {
    constexpr auto operator()(weft::scope s) const {
      auto x = s.input<"x", float, N>();
      return weft::results(as<"nan">(isnan(x)), as<"finite">(isfinite(x)));
    }
  };
  weft::array<float, N> x;
  for (std::size_t i = 0; i < N::extent; ++i) x(i) = number(i);
  on_every_target([&](const weft::kernels::table&) {
    weft::module<model> net;
    const auto y = net(weft::arg<"x">(x));
    for (std::size_t i = 0; i < N::extent; ++i) {
      BOOST_TEST(y.get<"nan">()(i) == std::isnan(x(i)));
      BOOST_TEST(y.get<"finite">()(i) == std::isfinite(x(i)));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
