#include <bit>
#include <cstring>
#include <tuple>

#include "arrays.hpp"
#include "support/greater_error.hpp"
#include "targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

using reference = double (*)(const double*);
using tolerance = double (*)(const double* in, double result);

double exact(const double*, double) {
  return 0;
}
double few_ulp(const double*, double result) {
  return 4 * ulp(result);
}
// The errors of erf or tanh (4 ulp of up to 1) and of x's square in the exponent, times the factors
// that they are multiplied by.
double of_gelu(const double* in, double) {
  return 8 * epsilon * std::abs(in[0]);
}
double of_gelu_adjoint(const double* in, double) {
  return 16 * epsilon * (1 + std::abs(in[0])) * std::abs(in[1]);
}

double phi(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
}
double u(double x) {
  return std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
}
double u_slope(double x) {
  return std::sqrt(2 / 3.14159265358979323846) * (1 + 3 * 0.044715 * x * x);
}

struct operation {
  op kind;
  int inputs;
  reference f;
  tolerance error = exact;
};

const operation on_floats[]{
    {op::copy, 1, [](const double* a) { return a[0]; }},
    {op::negate, 1, [](const double* a) { return -a[0]; }},
    {op::exp, 1, [](const double* a) { return std::exp(a[0]); }, few_ulp},
    {op::log, 1, [](const double* a) { return std::log(a[0]); }, few_ulp},
    {op::sqrt, 1,
     [](const double* a) { return static_cast<double>(std::sqrt(static_cast<float>(a[0]))); }},
    {op::tanh, 1, [](const double* a) { return std::tanh(a[0]); }, few_ulp},
    {op::erf, 1, [](const double* a) { return std::erf(a[0]); }, few_ulp},
    {op::sin, 1, [](const double* a) { return std::sin(a[0]); }, few_ulp},
    {op::cos, 1, [](const double* a) { return std::cos(a[0]); }, few_ulp},
    {op::sigmoid, 1, [](const double* a) { return 1 / (1 + std::exp(-a[0])); }, few_ulp},
    {op::relu, 1, [](const double* a) { return a[0] <= 0 ? 0 : a[0]; }},
    {op::gelu, 1, [](const double* a) { return a[0] * phi(a[0]); }, of_gelu},
    {op::gelu_tanh, 1, [](const double* a) { return a[0] / 2 * (1 + std::tanh(u(a[0]))); },
     of_gelu},
    {op::add, 2,
     [](const double* a) { return static_cast<double>(static_cast<float>(a[0] + a[1])); }},
    {op::subtract, 2,
     [](const double* a) { return static_cast<double>(static_cast<float>(a[0] - a[1])); }},
    {op::multiply, 2,
     [](const double* a) { return static_cast<double>(static_cast<float>(a[0] * a[1])); }},
    {op::divide, 2,
     [](const double* a) { return static_cast<double>(static_cast<float>(a[0] / a[1])); }},
    {op::maximum, 2, [](const double* a) { return std::max(a[0], a[1]); }},
    {op::minimum, 2, [](const double* a) { return std::min(a[0], a[1]); }},
    {op::relu_adjoint, 2, [](const double* a) { return a[0] > 0 ? a[1] : 0; }},
    {op::gelu_adjoint, 2,
     [](const double* a) {
       const double density = std::exp(-a[0] * a[0] / 2) / std::sqrt(2 * 3.14159265358979323846);
       return a[1] * (phi(a[0]) + a[0] * density);
     },
     of_gelu_adjoint},
    {op::gelu_tanh_adjoint, 2,
     [](const double* a) {
       const double t = std::tanh(u(a[0]));
       return a[1] * 0.5 * (1 + t + a[0] * (1 - t * t) * u_slope(a[0]));
     },
     of_gelu_adjoint},
};
const operation on_integers[]{
    {op::copy, 1, [](const double* a) { return a[0]; }},
    {op::negate, 1, [](const double* a) { return -a[0]; }},
    {op::add, 2, [](const double* a) { return a[0] + a[1]; }},
    {op::subtract, 2, [](const double* a) { return a[0] - a[1]; }},
    {op::multiply, 2, [](const double* a) { return a[0] * a[1]; }},
    {op::maximum, 2, [](const double* a) { return std::max(a[0], a[1]); }},
    {op::minimum, 2, [](const double* a) { return std::min(a[0], a[1]); }},
};
const operation comparisons[]{
    {op::less, 2, [](const double* a) { return a[0] < a[1] ? 1.0 : 0.0; }},
    {op::less_equal, 2, [](const double* a) { return a[0] <= a[1] ? 1.0 : 0.0; }},
    {op::equal, 2, [](const double* a) { return a[0] == a[1] ? 1.0 : 0.0; }},
    {op::not_equal, 2, [](const double* a) { return a[0] != a[1] ? 1.0 : 0.0; }},
};
const operation on_booleans[]{
    {op::copy, 1, [](const double* a) { return a[0]; }},
    {op::logical_not, 1, [](const double* a) { return 1 - a[0]; }},
    {op::logical_and, 2, [](const double* a) { return a[0] * a[1]; }},
    {op::logical_or, 2, [](const double* a) { return std::max(a[0], a[1]); }},
    {op::equal, 2, [](const double* a) { return a[0] == a[1] ? 1.0 : 0.0; }},
    {op::not_equal, 2, [](const double* a) { return a[0] != a[1] ? 1.0 : 0.0; }},
};
const operation choice{op::where, 3, [](const double* a) { return a[0] != 0 ? a[1] : a[2]; }};

// Runs the operation and returns the number of wrong elements.
template <class R, class... A>
int wrong(const table& kernels, const operation& o, array<R>& result, const extents& extent,
          array<A>&... inputs) {
  call c = make_call(o.kind, extent);
  c.operands[0] = result.as_operand();
  int i = 0;
  ((c.operands[++i] = inputs.as_operand()), ...);
  expectation expected(result);
  for_points(c, [&](const std::vector<std::ptrdiff_t>& index) {
    double in[3]{};
    for (int k = 0; k < o.inputs; ++k)
      in[k] = at(c.operands[k + 1], offset(c.operands[k + 1], index));
    const double value = o.f(in);
    expected.expect(result, offset(c.operands[0], index), value, o.error(in, value));
  });
  kernels.elementwise(c);
  return expected.wrong(result);
}

constexpr float special[]{std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          0,
                          -0.0f,
                          1e-40f,
                          -1e-40f,
                          1,
                          -1};

struct small_values {
  template <class T>
  void operator()(array<T>& a, unsigned seed) const {
    fill(a, seed);
  }
};
struct special_values : small_values {
  using small_values::operator();
  void operator()(array<float>& a, unsigned seed) const {
    std::mt19937 random(seed);
    for (float& x : a.memory) x = special[random() % std::size(special)];
  }
};

// Checks all shapes and all layouts of the result and the inputs; inputs are also broadcast.
template <class R, class... A, class Fill = small_values>
void check(const table& kernels, const operation& o, Fill fill = {}) {
  unsigned seed = 0;
  for (const extents& extent : shapes)
    for (const layout to : layouts)
      for (unsigned mix = 0; mix < 6; ++mix) {
        ++seed;
        array<R> result(extent, to, 0, true);
        unsigned k = mix;
        // The first mixes broadcast nothing, later ones also the last loop, the first or all.
        const auto without = [&] {
          const unsigned choices[]{0u, 0u, 1u << (extent.size() - 1), 1u, 7u};
          return mix < 2 ? 0u : choices[k++ % 5];
        };
        const auto how = [&] { return mix == 0 ? to : layouts[k % 4]; };
        std::tuple<array<A>...> inputs{array<A>(extent, how(), without())...};
        std::apply([&](auto&... a) { (fill(a, seed += 1000), ...); }, inputs);
        const int count =
            std::apply([&](auto&... a) { return wrong(kernels, o, result, extent, a...); }, inputs);
        BOOST_TEST(count == 0, name_of(o.kind) << " is wrong " << count << " times, layout "
                                               << static_cast<int>(to) << ", mix " << mix
                                               << ", loops " << extent.size());
      }
}

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

BOOST_AUTO_TEST_SUITE(elementwise)

BOOST_AUTO_TEST_CASE(float_operations_are_right_in_every_layout) {
  on_every_target([](const table& kernels) {
    for (const operation& o : on_floats)
      o.inputs == 1 ? check<float, float>(kernels, o) : check<float, float, float>(kernels, o);
  });
}

BOOST_AUTO_TEST_CASE(integer_operations_are_right_in_every_layout) {
  using std::int32_t;
  on_every_target([](const table& kernels) {
    for (const operation& o : on_integers)
      o.inputs == 1 ? check<int32_t, int32_t>(kernels, o)
                    : check<int32_t, int32_t, int32_t>(kernels, o);
  });
}

BOOST_AUTO_TEST_CASE(comparisons_give_booleans) {
  using std::int32_t, std::uint8_t;
  on_every_target([](const table& kernels) {
    for (const operation& o : comparisons) {
      check<uint8_t, float, float>(kernels, o);
      check<uint8_t, int32_t, int32_t>(kernels, o);
    }
  });
}

BOOST_AUTO_TEST_CASE(boolean_operations_are_right_in_every_layout) {
  using std::uint8_t;
  on_every_target([](const table& kernels) {
    for (const operation& o : on_booleans)
      o.inputs == 1 ? check<uint8_t, uint8_t>(kernels, o)
                    : check<uint8_t, uint8_t, uint8_t>(kernels, o);
  });
}

BOOST_AUTO_TEST_CASE(where_selects_elements_of_every_dtype) {
  using std::int32_t, std::uint8_t;
  on_every_target([](const table& kernels) {
    check<float, uint8_t, float, float>(kernels, choice);
    check<int32_t, uint8_t, int32_t, int32_t>(kernels, choice);
    check<uint8_t, uint8_t, uint8_t, uint8_t>(kernels, choice);
  });
}

BOOST_AUTO_TEST_CASE(casts_convert_between_all_dtypes) {
  using std::int32_t, std::uint8_t;
  const operation same{op::cast, 1, [](const double* a) { return a[0]; }};
  const operation truncated{op::cast, 1, [](const double* a) { return std::trunc(a[0]); }};
  const operation not_zero{op::cast, 1, [](const double* a) { return a[0] != 0 ? 1.0 : 0.0; }};
  on_every_target([&](const table& kernels) {
    check<float, float>(kernels, same);
    check<float, int32_t>(kernels, same);
    check<float, uint8_t>(kernels, same);
    check<int32_t, float>(kernels, truncated);
    check<int32_t, int32_t>(kernels, same);
    check<int32_t, uint8_t>(kernels, same);
    check<uint8_t, float>(kernels, not_zero);
    check<uint8_t, int32_t>(kernels, not_zero);
    check<uint8_t, uint8_t>(kernels, same);
  });
}

BOOST_AUTO_TEST_CASE(a_cast_to_int_saturates_and_maps_nan_to_0) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> xs{3e9f,
                        -3e9f,
                        1e30f,
                        -1e30f,
                        std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        nan,
                        -nan,
                        2147483520.0f,
                        -2147483648.0f,
                        2147483648.0f,
                        1.99f,
                        -1.99f};
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  const std::vector<std::int32_t> expected{most, least,      most,  least, most, least, 0,
                                           0,    2147483520, least, most,  1,    -1};
  on_every_target([&](const table& kernels) {
    std::vector<std::int32_t> results(xs.size());
    call c = make_call(op::cast, {static_cast<std::ptrdiff_t>(xs.size())});
    c.operands[0] = {results.data(), dtype::int32, {1}};
    c.operands[1] = {xs.data(), dtype::float32, {1}};
    kernels.elementwise(c);
    BOOST_TEST(results == expected, boost::test_tools::per_element());
  });
}

BOOST_AUTO_TEST_CASE(the_result_may_alias_an_input) {
  on_every_target([](const table& kernels) {
    for (const layout how : layouts) {
      const extents extent{17, 100};
      array<float> x(extent, how), g(extent, layout::contiguous);
      fill(x, 1);
      fill(g, 2);
      call c = make_call(op::subtract, extent);
      c.operands[0] = c.operands[1] = x.as_operand();
      c.operands[2] = g.as_operand();
      const array<float> before = x;
      kernels.elementwise(c);
      int wrong = 0;
      for_points(c, [&](const std::vector<std::ptrdiff_t>& index) {
        const auto to = static_cast<std::size_t>(offset(c.operands[0], index));
        const auto from = static_cast<std::size_t>(offset(c.operands[2], index));
        wrong += x.memory[to] != before.memory[to] - g.memory[from];
      });
      BOOST_TEST(wrong == 0);
    }
  });
}

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

// On every target, -0 equals 0, and NaN is unequal to and unordered with everything.
BOOST_AUTO_TEST_CASE(
    comparisons_and_choices_follow_ieee_754_for_nan_zeros_infinities_and_subnormals) {
  const operation not_zero{op::cast, 1, [](const double* a) { return a[0] != 0 ? 1.0 : 0.0; }};
  const operation greatest{op::maximum, 2, [](const double* a) {
                             return std::isnan(a[0]) || a[0] > a[1] ? a[0] : a[1];
                           }};
  const operation least{op::minimum, 2, [](const double* a) {
                          return std::isnan(a[0]) || a[0] < a[1] ? a[0] : a[1];
                        }};
  const operation rectified{op::relu, 1, [](const double* a) { return a[0] <= 0 ? 0 : a[0]; }};
  const operation slope{op::relu_adjoint, 2, [](const double* a) { return a[0] > 0 ? a[1] : 0; }};
  on_every_target([&](const table& kernels) {
    for (const operation& o : comparisons)
      check<uint8_t, float, float>(kernels, o, special_values());
    check<uint8_t, float>(kernels, not_zero, special_values());
    check<float, uint8_t, float, float>(kernels, choice, special_values());
    for (const operation& o : {greatest, least, slope})
      check<float, float, float>(kernels, o, special_values());
    check<float, float>(kernels, rectified, special_values());
  });
}

BOOST_AUTO_TEST_CASE(fused_comparisons_follow_ieee_754_for_nan) {
  constexpr std::int8_t made = max_fused_inputs;
  // (x != y && !(x < y)) || bool(x), which is where(x != y && !(x < y), true, bool(x))
  const fused_op links[]{{op::not_equal, dtype::boolean, {0, 1}, {}},
                         {op::less, dtype::boolean, {0, 1}, {}},
                         {op::logical_not, dtype::boolean, {made + 1}, {}},
                         {op::logical_and, dtype::boolean, {made, made + 2}, {}},
                         {op::cast, dtype::boolean, {0}, {}},
                         {op::logical_or, dtype::boolean, {made + 3, made + 4}, {}}};
  on_every_target([&](const table& kernels) {
    for (const extents& extent : shapes)
      for (const layout how : layouts) {
        array<float> x(extent, how), y(extent, layout::contiguous, 1);
        special_values()(x, 1);
        special_values()(y, 2);
        array<std::uint8_t> result(extent, how, 0, true);
        call c = make_call(op::logical_or, extent);
        c.operands[0] = result.as_operand();
        c.operands[1] = x.as_operand();
        c.operands[2] = y.as_operand();
        c.links = links;
        c.fused_count = static_cast<int>(std::size(links));
        expectation expected(result);
        for_points(c, [&](const auto& index) {
          const double a = at(c.operands[1], offset(c.operands[1], index));
          const double b = at(c.operands[2], offset(c.operands[2], index));
          expected.expect(result, offset(c.operands[0], index),
                          (a != b && !(a < b)) || a != 0 ? 1 : 0);
        });
        kernels.elementwise(c);
        BOOST_TEST(expected.wrong(result) == 0, "loops " << extent.size());
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

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  on_every_target([](const table& kernels) {
    for (const extents& extent : {extents{20000}, extents{3, 9000}, extents{40, 100}})
      for (const layout how : {layout::contiguous, layout::permuted, layout::spaced})
        // sin handles large lanes one by one, and a copy may transpose.
        for (const op kind : {op::sin, op::multiply, op::copy}) {
          array<float> x(extent, how), y(extent, layout::contiguous, 1),
              result(extent, layout::contiguous);
          fill(x, 1);
          fill(y, 2);
          for (std::size_t i = 0; i < x.memory.size(); i += 101) x.memory[i] = 3e6f;
          call c = make_call(kind, extent);
          c.operands[0] = result.as_operand();
          c.operands[1] = x.as_operand();
          if (kind == op::multiply) c.operands[2] = y.as_operand();
          BOOST_TEST(same_in_parts(kernels.elementwise, c, result.memory), name_of(kind));
        }
  });
}

// A fusion group gives the same bits as its operations run one after the other, also where a value
// is used twice or is a boolean, or where the result overwrites an input in place.
BOOST_AUTO_TEST_CASE(fusion_groups_give_the_same_bits_as_separate_operations) {
  on_every_target([](const table& kernels) {
    for (const extents& extent : shapes)
      for (unsigned mix = 0; mix < 6; ++mix) {
        const layout how = layouts[mix % 4];
        array<float> x(extent, how), y(extent, layouts[(mix + 1) % 4], mix == 4 ? 1u : 0u);
        array<float> z(extent, how, mix == 5 ? ~0u : 0u);
        array<std::int32_t> n(extent, layout::contiguous);
        fill(x, 1 + mix);
        fill(y, 2);
        fill(z, 3);
        fill(n, 4);
        // where(z < x * y, tanh(x * y), cast(n) + x * y)
        constexpr std::int8_t made = max_fused_inputs;
        const fused_op links[]{{op::multiply, dtype::float32, {0, 1}, {}},
                               {op::less, dtype::boolean, {2, made}, {}},
                               {op::tanh, dtype::float32, {made}, {}},
                               {op::cast, dtype::float32, {3}, {}},
                               {op::add, dtype::float32, {made + 3, made}, {}},
                               {op::where, dtype::float32, {made + 1, made + 2, made + 4}, {}}};
        const extents dense = extent;
        array<float> product(dense, layout::contiguous), function = product, number = product,
                                                         sum = product, wanted = product;
        array<std::uint8_t> less(dense, layout::contiguous);
        const auto one = [&](op kind, auto& to, auto&... from) {
          call c = make_call(kind, extent);
          c.operands[0] = to.as_operand();
          int i = 0;
          ((c.operands[++i] = from.as_operand()), ...);
          kernels.elementwise(c);
        };
        one(op::multiply, product, x, y);
        one(op::less, less, z, product);
        one(op::tanh, function, product);
        one(op::cast, number, n);
        one(op::add, sum, number, product);
        one(op::where, wanted, less, function, sum);

        array<float> result(extent, how, 0, true);
        call c = make_call(op::where, extent);
        c.operands[0] = result.as_operand();
        c.operands[1] = x.as_operand();
        c.operands[2] = y.as_operand();
        c.operands[3] = z.as_operand();
        c.operands[4] = n.as_operand();
        c.links = links;
        c.fused_count = static_cast<int>(std::size(links));
        expectation expected(result), in_place(x);
        const operand dense_wanted = wanted.as_operand();
        for_points(c, [&](const auto& index) {
          const double v = at(dense_wanted, offset(dense_wanted, index));
          expected.expect(result, offset(c.operands[0], index), v);
          in_place.expect(x, offset(c.operands[1], index), v);
        });
        kernels.elementwise(c);
        BOOST_TEST(expected.wrong(result) == 0, "mix " << mix << ", loops " << extent.size());
        if (how != layout::contiguous || std::count(extent.begin(), extent.end(), 0) > 0) continue;
        c.operands[0] = c.operands[1];
        kernels.elementwise(c);
        BOOST_TEST(in_place.wrong(x) == 0, "mix " << mix << ", loops " << extent.size());
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
