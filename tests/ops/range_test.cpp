// Functions and normalizations over the whole range of float, values and gradients, on every
// target.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::as;
using weft::kernels::on_every_target;

// Six numbers of each sign for each exponent.
constexpr int exponents = 256, numbers = 12;
struct N : weft::axis<exponents * numbers> {};

float number(std::size_t i) {
  const int exponent = static_cast<int>(i / numbers) - 127, which = static_cast<int>(i % numbers);
  const float size = std::ldexp(1 + 0.166f * static_cast<float>(which % 6), exponent);
  return std::isfinite(size) ? (which < 6 ? size : -size) : std::numeric_limits<float>::max();
}

template <class F>
struct function {
  constexpr auto operator()(weft::scope s) const {
    const auto y = F::of(s.param<"x", N>());
    return weft::results(as<"y">(y), as<"loss">(weft::sum<N>(y)));
  }
};

template <class F>
void check(const std::string& name, double absolute, double relative) {
  weft::trainer<function<F>> t;
  const auto x = t.parameters().find("x").values;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number(i);
  on_every_target([&](const weft::kernels::table&) {
    t.compute_gradients();
    const auto slope = t.gradients().find("x").values;
    weft::module<function<F>, "y"> net(t.parameters());
    const auto y = net().template get<"y">();
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      const auto right = [&](float got, double expected) {
        if (std::abs(expected) > static_cast<double>(std::numeric_limits<float>::max()))
          return got == std::copysign(HUGE_VALF, static_cast<float>(expected));
        if (std::isnan(expected)) return std::isnan(got);
        return std::abs(static_cast<double>(got) - expected) <=
               absolute * std::min(std::abs(at), 1.0) + relative * std::abs(expected) + 0x1p-126;
      };
      if (right(y(i), F::value(at)) && right(slope[i], F::slope(at))) continue;
      if (wrong++ == 0) first = i;
    }
    BOOST_TEST(wrong == 0, name << ": " << wrong << " wrong, the first at " << x[first] << ": "
                                << y(first) << ", not " << F::value(static_cast<double>(x[first]))
                                << ", with slope " << slope[first] << ", not "
                                << F::slope(static_cast<double>(x[first])));
  });
}

double density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
double distribution(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}
double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

struct exp_ {
  static constexpr auto of(auto x) { return weft::exp(x); }
  static double value(double x) { return std::exp(x); }
  static double slope(double x) { return std::exp(x); }
};
struct log_ {
  static constexpr auto of(auto x) { return weft::log(x); }
  static double value(double x) { return std::log(x); }
  static double slope(double x) { return 1 / x; }
};
struct tanh_ {
  static constexpr auto of(auto x) { return weft::tanh(x); }
  static double value(double x) { return std::tanh(x); }
  static double slope(double x) { return 1 / (std::cosh(x) * std::cosh(x)); }
};
struct sigmoid_ {
  static constexpr auto of(auto x) { return weft::sigmoid(x); }
  static double value(double x) { return logistic(x); }
  static double slope(double x) { return logistic(x) * logistic(-x); }
};
struct erf_ {
  static constexpr auto of(auto x) { return weft::erf(x); }
  static double value(double x) { return std::erf(x); }
  static double slope(double x) { return 2 * std::exp(-x * x) / std::sqrt(std::numbers::pi); }
};
struct silu_ {
  static constexpr auto of(auto x) { return weft::silu(x); }
  static double value(double x) { return x * logistic(x); }
  static double slope(double x) {
    return std::abs(x) > 1000 ? x > 0 : logistic(x) * (1 + x * logistic(-x));
  }
};
struct gelu_ {
  static constexpr auto of(auto x) { return weft::gelu(x); }
  static double value(double x) { return x * distribution(x); }
  static double slope(double x) {
    return distribution(x) + (std::abs(x) > 1000 ? 0 : x * density(x));
  }
};
struct gelu_tanh_ {
  static constexpr double c = 0.044715;
  static double s(double x) {
    return logistic(2 * std::sqrt(2 / std::numbers::pi) * (x + c * x * x * x));
  }
  static constexpr auto of(auto x) { return weft::gelu_tanh(x); }
  static double value(double x) { return x * s(x); }
  static double slope(double x) {
    if (std::abs(x) > 1000) return x > 0;
    return s(x) + x * s(x) * (1 - s(x)) * 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * c * x * x);
  }
};
struct sine {
  static constexpr auto of(auto x) { return weft::sin(x); }
  static double value(double x) { return std::sin(x); }
  static double slope(double x) { return std::cos(x); }
};
struct square_root {
  static constexpr auto of(auto x) { return weft::sqrt(x); }
  static double value(double x) { return std::sqrt(x); }
  static double slope(double x) { return 0.5 / std::sqrt(x); }
};

struct Row : weft::axis<5> {};
struct Length : weft::axis<100> {};
struct normalized {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.param<"x", Row, Length>(weft::init::zeros());
    const auto y = weft::normalize<Length>(x, {.epsilon = 1e-5});
    const auto loss = weft::sum<Row, Length>(y * s.input<"g", float, Row, Length>());
    const auto layer = weft::nn::layer_norm<Length>(s / "layer", x);
    return weft::results(as<"y">(y), as<"rms">(weft::nn::rms_norm<Length>(s / "rms", x)),
                         as<"layer">(layer), as<"loss">(loss));
  }
};

struct moments {
  double mean = 0, deviation = 0, root_mean_square = 0;
  explicit moments(std::span<const float> row) {
    const auto n = static_cast<double>(row.size());
    double squares = 0, centered = 0;
    for (const float x : row) mean += static_cast<double>(x) / n;
    for (const float x : row) {
      const auto v = static_cast<double>(x);
      squares += v * v;
      centered += (v - mean) * (v - mean);
    }
    deviation = std::sqrt(centered / n + 1e-5);
    root_mean_square = std::sqrt(squares / n + 1e-5);
  }
};

// Rows offset + scale * (-1 … 1): against double, a result may have some roundings of its own size.
void check_normalizations(float offset, float scale) {
  weft::trainer<normalized> t;
  const auto x = t.parameters().find("x").values;
  weft::array<float, Row, Length> g;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = offset + scale * (static_cast<float>(i * (i / 100 + 1) % 101) / 50 - 1);
    g.data()[i] = static_cast<float>(i * 7 % 5) - 1.5f;
  }
  on_every_target([&](const weft::kernels::table&) {
    t.compute_gradients(arg<"g">(g));
    const auto slope = t.gradients().find("x").values;
    weft::module<normalized, "y", "rms", "layer"> net(t.parameters());
    const auto r = net();
    const auto y = r.get<"y">(), rms = r.get<"rms">(), layer = r.get<"layer">();
    double worst = 0;
    for (std::size_t row = 0; row < 5; ++row) {
      const moments m(std::span<const float>(x).subspan(100 * row, 100));
      const auto at = [&](std::size_t i) { return static_cast<double>(x[100 * row + i]); };
      double sum = 0, product = 0;
      for (std::size_t i = 0; i < 100; ++i) {
        sum += static_cast<double>(g(row, i)) / 100;
        product += static_cast<double>(g(row, i)) * (at(i) - m.mean) / m.deviation / 100;
      }
      for (std::size_t i = 0; i < 100; ++i) {
        const double h = (at(i) - m.mean) / m.deviation;
        const double of_x = (static_cast<double>(g(row, i)) - sum - h * product) / m.deviation;
        for (const double e :
             {static_cast<double>(y(row, i)) - h, static_cast<double>(layer(row, i)) - h,
              static_cast<double>(rms(row, i)) - at(i) / m.root_mean_square,
              (static_cast<double>(slope[100 * row + i]) - of_x) * m.deviation})
          worst = std::isfinite(e) ? std::max(worst, std::abs(e)) : HUGE_VAL;
      }
    }
    BOOST_TEST(worst <= 32 * 0x1p-24, "rows of " << offset << " + " << scale << ": " << worst);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(range, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(functions_and_their_gradients_are_right_at_every_exponent) {
  check<exp_>("exp", 0, 4 * 0x1p-24);
  check<log_>("log", 4 * 0x1p-24, 4 * 0x1p-24);
  check<tanh_>("tanh", 4 * 0x1p-24, 4 * 0x1p-24);
  check<sigmoid_>("sigmoid", 4 * 0x1p-24, 6 * 0x1p-24);
  check<erf_>("erf", 4 * 0x1p-24, 8 * 0x1p-24);
  check<silu_>("silu", 4 * 0x1p-24, 8 * 0x1p-24);
  check<gelu_>("gelu", 8 * 0x1p-24, 8 * 0x1p-24);
  // The slope has 1 - s, of an s that is rounded, times up to 30.
  check<gelu_tanh_>("gelu_tanh", 32 * 0x1p-24, 8 * 0x1p-24);
  check<sine>("sin", 0, 4 * 0x1p-24);
  check<square_root>("sqrt", 0, 4 * 0x1p-24);
}

BOOST_AUTO_TEST_CASE(rows_that_are_far_from_0_or_huge_or_tiny_are_normalized) {
  for (const float offset : {0.f, 1.f, 1e4f, -1e6f})
    for (const float scale : {1e-3f, 1.f, 1e3f}) check_normalizations(offset, scale);
  for (int exponent = -120; exponent <= 120; exponent += 8)
    check_normalizations(0, std::ldexp(1.f, exponent));
}

BOOST_AUTO_TEST_CASE(a_row_of_nan_or_of_huge_numbers_changes_no_bit_of_the_others) {
  weft::trainer<normalized> t;
  weft::array<float, Row, Length> g;
  const auto x = t.parameters().find("x").values;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 3 + static_cast<float>(i * i % 101) / 50;
    g.data()[i] = static_cast<float>(i * 7 % 5) - 1.5f;
  }
  const auto others = [&] {
    t.compute_gradients(arg<"g">(g));
    weft::module<normalized, "y", "rms"> net(t.parameters());
    const auto r = net();
    const auto y = r.get<"y">(), rms = r.get<"rms">();
    const auto slope = t.gradients().find("x").values;
    std::vector<float> all;
    for (std::size_t row : {0u, 1u, 3u, 4u})
      for (std::size_t i = 0; i < 100; ++i)
        all.insert(all.end(), {y(row, i), rms(row, i), slope[100 * row + i]});
    return all;
  };
  on_every_target([&](const weft::kernels::table&) {
    const auto expected = others();
    const std::vector<float> kept(x.begin() + 200, x.begin() + 300);
    for (const float wrong : {std::nanf(""), 1e30f, HUGE_VALF}) {
      x[250] = wrong;
      BOOST_TEST((others() == expected), "beside a row with " << wrong);
    }
    std::copy(kept.begin(), kept.end(), x.begin() + 200);
  });
}

BOOST_AUTO_TEST_SUITE_END()
