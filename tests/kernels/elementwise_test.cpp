// Elementwise operations of every dtype, in every layout.
#include <bit>
#include <tuple>

#include "arrays.hpp"
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
  for_points(c, [&](const extents& index) {
    double in[3]{};
    for (int k = 0; k < o.inputs; ++k)
      in[k] = at(c.operands[k + 1], offset(c.operands[k + 1], index));
    const double value = o.f(in);
    expected.expect(result, offset(c.operands[0], index), value, o.error(in, value));
  });
  kernels.elementwise(c);
  return expected.wrong(result);
}

struct small_values {
  template <class T>
  void operator()(array<T>& a, unsigned seed) const {
    fill(a, seed);
  }
};
struct special_values : small_values {
  using small_values::operator();
  void operator()(array<float>& a, unsigned seed) const { fill_specially(a, seed); }
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
      for_points(c, [&](const extents& index) {
        const auto to = static_cast<std::size_t>(offset(c.operands[0], index));
        const auto from = static_cast<std::size_t>(offset(c.operands[2], index));
        wrong += x.memory[to] != before.memory[to] - g.memory[from];
      });
      BOOST_TEST(wrong == 0);
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

BOOST_AUTO_TEST_CASE(bfloat16_is_the_nearest_with_ties_to_even_and_widens_exactly) {
  // Each bfloat16, the floats that are nearest to the middle of it and the next, and some others.
  std::vector<float> floats;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      floats.push_back(std::bit_cast<float>(high << 16 | low));
  std::vector<bfloat16> narrow(floats.size());
  std::vector<float> wide(floats.size());
  on_every_target([&](const table& kernels) {
    const auto convert = [&](const void* from, dtype of, void* to, dtype as) {
      call c;
      c.kind = op::cast;
      c.loops = 1;
      c.extent[0] = static_cast<std::ptrdiff_t>(floats.size());
      c.operands[0] = {to, as, {1}};
      c.operands[1] = {const_cast<void*>(from), of, {1}};
      kernels.elementwise(c);
    };
    convert(floats.data(), dtype::float32, narrow.data(), dtype::bfloat16);
    convert(narrow.data(), dtype::bfloat16, wide.data(), dtype::float32);
    int wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const bfloat16 expected(floats[i]);
      wrong += narrow[i].bits != expected.bits;
      wrong += std::bit_cast<std::uint32_t>(wide[i]) != std::uint32_t{expected.bits} << 16;
    }
    BOOST_TEST(wrong == 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
