// The accuracy of elementary functions, and what they give for infinities and NaN.
#include <bit>
#include <cstring>

#include "arrays.hpp"
#include "support/greater_error.hpp"
#include "targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// The kernel's results for xs.
std::vector<float> values(const table& kernels, op kind, std::vector<float> xs) {
  call c = make_call(kind, {static_cast<std::ptrdiff_t>(xs.size())});
  std::vector<float> results(xs.size());
  c.operands[0] = {results.data(), dtype::float32, {1}};
  c.operands[1] = {xs.data(), dtype::float32, {1}};
  kernels.elementwise(c);
  return results;
}

// About 2^20 floats: all signs and exponents with random mantissas, and a dense sample of the range
// where the function changes.
std::vector<float> float_range(float dense) {
  std::vector<float> xs;
  std::mt19937 random(1);
  for (std::uint32_t high = 0; high < 512; ++high) {
    if ((high & 255) == 255) continue;
    for (int k = 0; k < 1000; ++k) {
      const std::uint32_t bits = high << 23 | (random() & 0x7FFFFFu);
      float x;
      std::memcpy(&x, &bits, sizeof x);
      xs.push_back(x);
    }
  }
  std::uniform_real_distribution<float> uniform(-dense, dense);
  for (int k = 0; k < 500000; ++k) xs.push_back(uniform(random));
  return xs;
}

constexpr op functions_of_one[]{op::exp, op::log,     op::sqrt, op::tanh, op::erf,      op::sin,
                                op::cos, op::sigmoid, op::relu, op::gelu, op::gelu_tanh};

// The largest error over xs in ulp. Where the reference is NaN or overflows float, the kernel must
// give the same.
double largest_error(const table& kernels, op kind, double (*f)(double),
                     const std::vector<float>& xs) {
  const std::vector<float> got = values(kernels, kind, xs);
  double worst = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double want = f(static_cast<double>(xs[i]));
    if (std::isnan(want) || std::isinf(static_cast<float>(want))) {
      const float rounded = static_cast<float>(want);
      if (std::isnan(want) ? !std::isnan(got[i]) : got[i] != rounded) worst = 1e9;
      continue;
    }
    const double error = std::abs(static_cast<double>(got[i]) - want) / ulp(want);
    worst = testing::greater_error(worst, error);
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(functions_are_within_their_ulp_bounds_over_the_float_range) {
  struct function {
    op kind;
    double (*f)(double);
    float dense;
    double ulps;
  };
  const function functions[]{
      {op::exp, [](double x) { return std::exp(x); }, 104, 1.2},
      {op::log, [](double x) { return std::log(x); }, 3, 1},
      {op::tanh, [](double x) { return std::tanh(x); }, 10, 1.6},
      {op::erf, [](double x) { return std::erf(x); }, 4, 1.5},
      {op::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 104, 2.5},
      {op::sin, [](double x) { return std::sin(x); }, 1e5f, 1.6},
      {op::cos, [](double x) { return std::cos(x); }, 1e5f, 1.6},
  };
  on_every_target([&](const table& kernels) {
    for (const function& f : functions) {
      const double error = largest_error(kernels, f.kind, f.f, float_range(f.dense));
      BOOST_TEST_MESSAGE(name_of(f.kind) << ": " << error << " ulp");
      BOOST_TEST(error <= f.ulps, name_of(f.kind) << " is off by " << error << " ulp");
    }
  });
}

BOOST_AUTO_TEST_CASE(sin_and_cos_are_accurate_near_multiples_of_half_pi) {
  std::vector<float> xs;
  for (int k = -60000; k <= 60000; ++k) {
    const auto x = static_cast<float>(k * 1.57079632679489661923);
    xs.push_back(x);
    xs.push_back(std::nextafter(x, 0.0f));
  }
  on_every_target([&](const table& kernels) {
    BOOST_TEST(largest_error(
                   kernels, op::sin, [](double x) { return std::sin(x); }, xs) <= 1.6);
    BOOST_TEST(largest_error(
                   kernels, op::cos, [](double x) { return std::cos(x); }, xs) <= 1.6);
  });
}

BOOST_AUTO_TEST_CASE(a_function_gives_the_same_bits_whatever_the_other_lanes_hold) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float others[]{0, -1, inf, -inf, 1e-40f, 200, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> alone = float_range(10);
  on_every_target([&](const table& kernels) {
    for (const op kind : functions_of_one) {
      const std::vector<float> expected = values(kernels, kind, alone);
      for (const float other : others) {
        std::vector<float> xs = alone;
        for (std::size_t i = 0; i < xs.size(); i += 3) xs[i] = other;
        const std::vector<float> got = values(kernels, kind, xs);
        std::size_t changed = 0;
        for (std::size_t i = 0; i < xs.size(); ++i)
          changed += i % 3 != 0 && std::bit_cast<std::uint32_t>(got[i]) !=
                                       std::bit_cast<std::uint32_t>(expected[i]);
        BOOST_TEST(changed == 0u, name_of(kind) << " differs beside " << other << ": " << changed);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(infinities_and_nan_match_ieee_754_and_pytorch) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto same = [](float a, float b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  };
  struct example {
    op kind;
    float x, expected;
  };
  const example examples[]{
      {op::exp, -inf, 0},     {op::exp, inf, inf},      {op::exp, 1000, inf},
      {op::exp, -1000, 0},    {op::exp, 0, 1},          {op::log, 0, -inf},
      {op::log, -0.0f, -inf}, {op::log, -1, nan},       {op::log, -inf, nan},
      {op::log, inf, inf},    {op::log, 1, 0},          {op::tanh, inf, 1},
      {op::tanh, -inf, -1},   {op::tanh, -0.0f, -0.0f}, {op::erf, inf, 1},
      {op::erf, -inf, -1},    {op::erf, -0.0f, -0.0f},  {op::sigmoid, inf, 1},
      {op::sigmoid, -inf, 0}, {op::sin, inf, nan},      {op::cos, -inf, nan},
      {op::sqrt, -1, nan},    {op::sqrt, inf, inf},     {op::relu, inf, inf},
      {op::relu, -inf, 0},    {op::gelu, inf, inf},     {op::gelu_tanh, inf, inf}};
  on_every_target([&](const table& kernels) {
    for (const example& e : examples) {
      const float got = values(kernels, e.kind, std::vector<float>(19, e.x)).back();
      BOOST_TEST(same(e.expected, got), name_of(e.kind) << "(" << e.x << ") is " << got);
    }
    for (const op kind : functions_of_one)
      for (const float x : values(kernels, kind, {nan, -nan}))
        BOOST_TEST(std::isnan(x), name_of(kind) << " loses NaN");
    for (const op kind : {op::maximum, op::minimum}) {
      std::vector<float> a{nan, 1, nan, inf}, b{1, nan, nan, -inf}, r(4);
      call c = make_call(kind, {4});
      c.operands[0] = {r.data(), dtype::float32, {1}};
      c.operands[1] = {a.data(), dtype::float32, {1}};
      c.operands[2] = {b.data(), dtype::float32, {1}};
      kernels.elementwise(c);
      BOOST_TEST((std::isnan(r[0]) && std::isnan(r[1]) && std::isnan(r[2])));
      BOOST_TEST(r[3] == (kind == op::maximum ? inf : -inf));
    }
  });
}

BOOST_AUTO_TEST_CASE(quotients_by_0_are_infinite_or_nan) {
  on_every_target([](const table& kernels) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    std::vector<float> a{1, -1, 1, 0, 6}, b{0, 0, -0.0f, 0, 3}, quotients(a.size());
    call c = make_call(op::divide, {static_cast<std::ptrdiff_t>(a.size())});
    c.operands[0] = {quotients.data(), dtype::float32, {1}};
    c.operands[1] = {a.data(), dtype::float32, {1}};
    c.operands[2] = {b.data(), dtype::float32, {1}};
    kernels.elementwise(c);
    BOOST_TEST(quotients[0] == inf);
    BOOST_TEST(quotients[1] == -inf);
    BOOST_TEST(quotients[2] == -inf);
    BOOST_TEST(std::isnan(quotients[3]));
    BOOST_TEST(quotients[4] == 2);
  });
}

BOOST_AUTO_TEST_SUITE_END()
