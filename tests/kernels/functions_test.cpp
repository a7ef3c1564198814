// The accuracy of elementary functions, and what they give for infinities and NaN.
#include <bit>

#include "kernels/accuracy.hpp"
#include "kernels/check.hpp"
#include "support/greater_error.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

using floats = std::vector<float>;

// About 2^18 floats: all signs and exponents with random mantissas, and as many in the range where
// a function changes.
floats float_range(float dense, unsigned seed) {
  floats xs;
  std::mt19937 random(seed);
  for (std::uint32_t high = 0; high < 512; ++high)
    for (int k = 0; k < 256 && (high & 255) != 255; ++k)
      xs.push_back(std::bit_cast<float>(high << 23 | static_cast<std::uint32_t>(random() >> 9)));
  std::uniform_real_distribution<float> uniform(-dense, dense);
  while (xs.size() < 1 << 18) xs.push_back(uniform(random));
  return xs;
}

// An operation's first two operands, of which it may have one.
struct samples {
  op kind;
  floats x, y;

  // The whole range of both, in which a second operand meets the dense range of the first, too.
  explicit samples(op k)
      : kind(k),
        x(float_range(accuracies[k].dense, 1)),
        y(operands_of_elementwise(k) > 1 ? float_range(accuracies[k].dense, 2) : floats()) {
    if (!y.empty()) std::shuffle(y.begin(), y.end(), std::mt19937(3));
    const float most = accuracies[k].most;
    for (float& v : x) v = std::clamp(v, -most, most);
  }
  samples(op k, floats xs, floats ys = {}) : kind(k), x(std::move(xs)), y(std::move(ys)) {}

  floats results(const table& kernels) {
    floats r(x.size());
    kernels.elementwise(call_of(kind, {std::ssize(x)}, r, x, y));
    return r;
  }
};

// Compares a function on every target with what it is in double.
void check(samples s) {
  std::vector<expected_element> expected;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const double y = s.y.empty() ? 0 : static_cast<double>(s.y[i]);
    expected.push_back(elementwise(s.kind, dtype::float32, {static_cast<double>(s.x[i]), y, 0}));
  }
  on_every_target([&](const table& kernels) {
    const floats got = s.results(kernels);
    double most = 0;  // relative to what is allowed
    std::size_t worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto [value, tolerance] = expected[i];
      const auto r = static_cast<double>(got[i]);
      if (r == value || (std::isnan(r) && std::isnan(value))) continue;
      const double error = testing::greater_error(0, std::abs(r - value) / tolerance);
      if (error > most) most = error, worst = i;
    }
    BOOST_TEST_MESSAGE(name_of(s.kind) << ": " << most << " of the bound");
    BOOST_TEST(most <= 1, name_of(s.kind)
                              << " of " << s.x[worst] << ' ' << (s.y.empty() ? 0 : s.y[worst])
                              << " is " << got[worst] << ", " << most << " times the bound off");
  });
}

bool is_function(op kind) {
  return takes<float>(kind) && has_flag(kind, op_flag::expensive);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(functions_are_within_their_bounds_over_the_float_range) {
  for (const op kind : operations_where(is_function)) check(samples(kind));
}

// Positive numbers to powers that are close to the least or the greatest float or anything between,
// and numbers of both signs to integer powers.
BOOST_AUTO_TEST_CASE(powers_are_within_their_bound_over_the_whole_range_of_results) {
  floats x = float_range(10, 4), y;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> exponent(-150, 128);
  for (float& base : x) {
    const float power = exponent(random) / std::log2(std::abs(base));
    if (y.size() % 4 != 0) base = std::abs(base);
    y.push_back(y.size() % 2 == 0 ? std::round(power) : power);
  }
  check({op::pow, x, y});
}

BOOST_AUTO_TEST_CASE(sin_and_cos_are_accurate_near_multiples_of_half_pi) {
  floats xs;
  for (int k = -60000; k <= 60000; ++k) {
    const auto x = static_cast<float>(k * 1.57079632679489661923);
    xs.push_back(x);
    xs.push_back(std::nextafter(x, 0.0f));
  }
  check({op::sin, xs});
  check({op::cos, xs});
}

BOOST_AUTO_TEST_CASE(a_function_gives_the_same_bits_whatever_the_other_lanes_hold) {
  for (const op kind : operations_where(is_function)) {
    samples alone(kind);
    on_every_target([&](const table& kernels) {
      const floats expected = alone.results(kernels);
      for (const float other : {0.0f, -1.0f, infinity, -infinity, 1e-40f, 200.0f, NAN}) {
        samples beside = alone;
        for (std::size_t i = 0; i < alone.x.size(); i += 3) beside.x[i] = other;
        floats got = beside.results(kernels);
        for (std::size_t i = 0; i < got.size(); i += 3) got[i] = expected[i];
        BOOST_TEST(different_bits(got, expected) == "", name_of(kind) << " beside " << other);
      }
    });
  }
}

namespace {

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

BOOST_AUTO_TEST_CASE(infinities_and_nan_match_ieee_754_and_pytorch) {
  struct example {
    op kind;
    float x, expected, y = 0;
  };
  constexpr float inf = infinity;
  const example examples[]{{op::exp, -inf, 0},
                           {op::exp, inf, inf},
                           {op::exp, 1000, inf},
                           {op::exp, -1000, 0},
                           {op::exp, 0, 1},
                           {op::log, 0, -inf},
                           {op::log, -0.0f, -inf},
                           {op::log, -1, NAN},
                           {op::log, -inf, NAN},
                           {op::log, inf, inf},
                           {op::log, 1, 0},
                           {op::tanh, inf, 1},
                           {op::tanh, -inf, -1},
                           {op::tanh, -0.0f, -0.0f},
                           {op::erf, inf, 1},
                           {op::erf, -inf, -1},
                           {op::erf, -0.0f, -0.0f},
                           {op::sigmoid, inf, 1},
                           {op::sigmoid, -inf, 0},
                           {op::sin, inf, NAN},
                           {op::cos, -inf, NAN},
                           {op::sqrt, -1, NAN},
                           {op::sqrt, inf, inf},
                           {op::relu, inf, inf},
                           {op::relu, -inf, 0},
                           {op::gelu, inf, inf},
                           {op::gelu_tanh, inf, inf},
                           {op::maximum, NAN, NAN, 1},
                           {op::maximum, 1, NAN, NAN},
                           {op::maximum, inf, inf, -inf},
                           {op::minimum, NAN, NAN, 1},
                           {op::minimum, 1, NAN, NAN},
                           {op::minimum, inf, -inf, -inf},
                           {op::divide, 1, inf, 0},
                           {op::divide, -1, -inf, 0},
                           {op::divide, 1, -inf, -0.0f},
                           {op::divide, 0, NAN, 0},
                           {op::divide, 6, 2, 3}};
  on_every_target([&](const table& kernels) {
    for (const example& e : examples) {
      const float got = samples(e.kind, floats(19, e.x), floats(19, e.y)).results(kernels).back();
      BOOST_TEST(same(e.expected, got), name_of(e.kind)
                                            << " of " << e.x << ' ' << e.y << " is " << got);
    }
    for (const op kind : operations_where(takes<float>))
      if (operands_of_elementwise(kind) == 1)
        for (const float x : samples(kind, {NAN, -NAN}).results(kernels))
          BOOST_TEST(std::isnan(x), name_of(kind) << " loses NaN");
  });
}

// 1 to any power and any number to 0 are 1, NaN too; a negative number has integer powers only, and
// a zero or an infinity keeps its sign in odd ones.
BOOST_AUTO_TEST_CASE(powers_of_special_numbers_are_those_of_ieee_754) {
  constexpr float most = std::numeric_limits<float>::max();
  const floats numbers{NAN, infinity, 0,   1e-40f, 0x1p-126f, 0.5f,    1,    1.5f,      2,
                       3,   4,        127, 128,    0x1p23f,   0x1p24f, most, 0x1.8p22f, 8388607};
  floats x, y;
  for (const float a : numbers)
    for (const float b : numbers)
      for (const float base : {a, -a})
        for (const float power : {b, -b}) x.push_back(base), y.push_back(power);
  on_every_target([&](const table& kernels) {
    const floats got = samples(op::pow, x, y).results(kernels);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
      const auto rounded = static_cast<float>(exact);
      const bool right = std::isfinite(rounded) && rounded != 0
                             ? std::abs(static_cast<double>(got[i]) - exact) <=
                                   accuracies[op::pow].ulps * ulp(exact)
                             : same(got[i], rounded);
      BOOST_TEST(right, x[i] << " to the power " << y[i] << " is " << got[i] << ", not " << exact);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
