#include "kernels/product.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "kernels/arrays.hpp"
#include "kernels/check.hpp"
#include "kernels/families.hpp"
#include "reference/elementwise.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/weights/stored.hpp"

namespace weft::kernels::products {

namespace {

constexpr float untouched = 12345.0f;

std::ptrdiff_t stride_of(const std::string& axes, char axis, const product& p) {
  if (axes.find(axis) == std::string::npos) return 0;
  std::ptrdiff_t stride = 1;
  for (auto a = axes.rbegin(); *a != axis; ++a) stride *= p.length.at(*a) + p.padding;
  return stride;
}

// The exact number of elements that an operand spans, so that the address sanitizer catches any
// access beyond it.
std::size_t reach(const owning_call<>& c, int operand) {
  std::ptrdiff_t last = 0;
  for (int i = 0; i < c.loops; ++i) {
    if (c.extent[i] == 0) {
      if (c.operands[operand].stride[i] != 0) return 0;
    } else {
      last += (c.extent[i] - 1) * c.operands[operand].stride[i];
    }
  }
  return static_cast<std::size_t>(last) + 1;
}

// Each element of the result: the sum of the products, and the sum of the magnitudes of its terms;
// NaN where the result must not be written.
struct sums {
  std::vector<double> sum, magnitude;
};

// The loops that the result has, or those that it lacks.
kernels::extents loops_of(const owning_call<>& c, bool of_result) {
  kernels::extents extent(c.extent, c.extent + c.loops);
  for (std::size_t l = 0; l < extent.size(); ++l)
    if ((c.operands[0].stride[l] != 0) != of_result) extent[l] = 1;
  return extent;
}

sums sums_of(const owning_call<>& c, const std::vector<float>& left,
             const std::vector<float>& right) {
  const std::size_t size = reach(c, 0);
  sums s{std::vector(size, std::nan("")), std::vector(size, 0.0)};
  // The offsets of the terms of a sum, which are the same for each.
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> terms;
  for_points(loops_of(c, false), [&](const kernels::extents& at) {
    terms.emplace_back(offset(c.operands[1], at), offset(c.operands[2], at));
  });
  for_points(loops_of(c, true), [&](const kernels::extents& at) {
    // Indices, since operands without elements have no address.
    const std::ptrdiff_t x = offset(c.operands[1], at), y = offset(c.operands[2], at);
    double sum = 0, magnitude = 0;
    for (const auto& [of_x, of_y] : terms) {
      const double term = static_cast<double>(left[static_cast<std::size_t>(x + of_x)]) *
                          static_cast<double>(right[static_cast<std::size_t>(y + of_y)]);
      sum += term;
      magnitude += std::abs(term);
    }
    const auto i = static_cast<std::size_t>(offset(c.operands[0], at));
    s.sum[i] = sum;
    s.magnitude[i] = magnitude;
  });
  return s;
}

std::ptrdiff_t depth_of(const owning_call<>& c) {
  std::ptrdiff_t n = 1;
  for (const std::ptrdiff_t extent : loops_of(c, false)) n *= extent;
  return n;
}

std::string describe(const product& p, const epilogue& e) {
  std::string s = p.left + ',' + p.right + "->" + p.result;
  for (const auto& [axis, length] : p.length) s += ' ' + (axis + ('=' + std::to_string(length)));
  for (const std::string& addend : e.addends) s += " + " + addend;
  s += " scale " + std::to_string(e.scale) + " then " + std::string(name_of(e.then));
  return s + " padding " + std::to_string(p.padding);
}

std::vector<float> random_values(std::size_t n) {
  std::mt19937 generator(static_cast<unsigned>(n) + 1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = uniform(generator);
  return v;
}

// The sums with the addends, in the result's layout.
sums before_activation(sums s, const owning_call<>& c,
                       const std::vector<std::vector<float>>& addends) {
  for_points(loops_of(c, true), [&](const kernels::extents& at) {
    const auto i = static_cast<std::size_t>(offset(c.operands[0], at));
    s.sum[i] *= c.scale;
    s.magnitude[i] *= std::abs(c.scale);
    for (std::size_t j = 0; j < addends.size(); ++j) {
      const double x = addends[j][static_cast<std::size_t>(offset(c.operands[3 + j], at))];
      s.sum[i] += x;
      s.magnitude[i] += std::abs(x);
    }
  });
  return s;
}

// What differs from f of the sums by more than they allow; products have a relative error
// `rounded`.
std::string differences(const std::vector<float>& result, const owning_call<>& c, const sums& s,
                        double rounded) {
  // Error of a sum of products in chains of K, each step rounded: Higham's gamma of K times the sum
  // of their magnitudes, with K u / (1 - K u) bounded by K epsilon as u is half of epsilon.
  // Four more roundings for the scale, which is a float too, and the addends.
  const bool plain = c.operands[3].data == nullptr && c.scale == 1;
  const std::size_t chain = longest_chain(static_cast<std::size_t>(depth_of(c)));
  const double bound = (static_cast<double>(chain) + (plain ? 0 : 4)) * epsilon;
  const node then = make_node(c.epilogue);
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double sum = s.sum[i], got = static_cast<double>(result[i]);
    bool right = result[i] == untouched;
    if (!std::isnan(sum)) {
      // No activation has a slope beyond 1.13. The functions that they are computed from are at
      // most 1, rounded a few times, and gelu multiplies them by x.
      const double of_sums = (bound + rounded) * s.magnitude[i];
      const double allowed =
          c.epilogue == op::copy ? of_sums : 1.13 * of_sums + 4 * epsilon * (1 + std::abs(sum));
      right = std::abs(got - reference::detail::elementwise(then, sum, 0, 0)) <= allowed;
    }
    if (!right && wrong++ == 0) first = i;
  }
  return wrong == 0 ? ""
                    : words(wrong, " of ", result.size(), " wrong, the first at ", first, ": ",
                            result[first], " of a sum of ", s.sum[first]);
}

// Runs the kernel in this number of partitions.
std::vector<float> run(owning_call<> c, int partitions, std::size_t size) {
  std::vector<float> result(size, untouched);
  c.operands[0].data = result.data();
  for (int i = 0; i < partitions; ++i) {
    c.part = part_of(i, partitions);
    dot_kernel()(c);
  }
  return result;
}

// Checks a call on the target that is dispatched to. Returns the result.
std::vector<float> check_on_target(const owning_call<>& c, const sums& s, double rounded,
                                   std::initializer_list<int> parts, const char* how) {
  std::vector<float> whole = run(c, 1, s.sum.size());
  const std::string wrong = differences(whole, c, s, rounded);
  BOOST_TEST(wrong == "", how << wrong);
  for (const int count : parts) {
    const std::string differ = different_bits(run(c, count, whole.size()), whole);
    BOOST_TEST(differ == "", how << differ << " in " << count << " partitions");
  }
  return whole;
}

// The sums of products with the operand as it is packed in blocks, whatever the layout.
sums sums_of_quantized(owning_call<> c, std::vector<float> left, std::vector<float> right,
                       precision as) {
  const aligned packed(packed_bytes(c, as));
  std::vector<float>& values = rhs_operand(c) == 1 ? left : right;
  const table kernels = dispatch();
  kernels.pack_dot(c, kernels.layout.stored(as), packed.data());
  c.operands[rhs_operand(c)].data = packed.data();
  c.operands[rhs_operand(c)].packed = kernels.layout.stored(as);
  const std::vector<float> before = values;
  unpack_dot(kernels.layout, c, 0, values);
  // What precision says; all numbers are below 1.
  const double most = as == precision::q8_0 ? 0x1p-7 * 0.58 : 0x1p-3 + 0x1p-11;
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(std::abs(static_cast<double>(values[i]) - static_cast<double>(before[i])) <= most);
  return sums_of(c, left, right);
}

void check_with(const epilogue& e, const product& p, std::vector<float>& left,
                std::vector<float>& right, const sums& of_products, const sums (&of_quantized)[2]) {
  owning_call<> c = call_of(p, e);
  std::vector<std::vector<float>> addends;
  for (std::size_t j = 0; j < e.addends.size(); ++j) {
    addends.push_back(random_values(reach(c, 3 + static_cast<int>(j)) + j));
    c.operands[3 + j].data = addends[j].data();
  }
  const sums s = before_activation(of_products, c, addends);
  const sums quantized[]{before_activation(of_quantized[0], c, addends),
                         before_activation(of_quantized[1], c, addends)};
  // Of int8, a product's error is relative to that of the largest numbers, which are 1 here.
  sums of_largest = of_products;
  std::ranges::fill(of_largest.magnitude, static_cast<double>(depth_of(c)));
  of_largest = before_activation(of_largest, c, addends);
  const aligned scratch = scratch_for(c, dot_scratch_bytes(c));
  c.operands[1].data = left.data();
  c.operands[2].data = right.data();
  BOOST_TEST_CONTEXT(describe(p, e)) {
    // Of products with the operand as it is, and packed.
    results_of_families same[1 + detail::precision_names.size()];
    const auto check_bits = [](results_of_families& before, const std::vector<float>& result,
                               const char* how) {
      const std::string differ = before.differences(result);
      BOOST_TEST(differ == "", how << "not the family's bits: " << differ);
    };
    on_every_target([&](const table& kernels) {
      check_bits(same[0], check_on_target(c, s, 0, {2, 3}, ""), "");
      if (!can_be_packed(c) || depth_of(c) == 0 || s.sum.empty()) return;
      // A packed operand that is rounded to bfloat16 has a relative error of 2^-8, and so has each
      // product; where both operands are rounded, it is twice that plus its square.
      for (const auto& [as, rounded] :
           {std::pair{precision::float32, 0.0}, std::pair{precision::bfloat16, 0x1p-8},
            std::pair{precision::bfloat16_products, 0x1p-7 + 0x1p-16},
            std::pair{precision::q8_0, 0.0}, std::pair{precision::q4_0, 0.0},
            std::pair{precision::int8_products, 1.0 / 127 + 0x1p-15}}) {
        owning_call<> q = c;
        const aligned packed(packed_bytes(c, as));
        kernels::operand& rhs = q.operands[rhs_operand(c)];
        const stored_type stored = kernels.layout.stored(as);
        kernels.pack_dot(q, stored, packed.data());
        rhs.packed = stored;
        rhs.data = packed.data();
        const sums& right_sums = as == precision::q8_0            ? quantized[0]
                                 : as == precision::q4_0          ? quantized[1]
                                 : as == precision::int8_products ? of_largest
                                                                  : s;
        const std::size_t room = packed_dot_scratch_bytes(c).in(as);
        const aligned own = scratch_for(q, room + 64);
        const std::vector<float> result = check_on_target(q, right_sums, rounded, {2}, "packed: ");
        BOOST_TEST(std::all_of(own.data() + room, own.data() + room + 64,
                               [](std::byte b) { return b == std::byte{0xff}; }),
                   "packed: more scratch than " << room);
        // Processors that multiply pairs of bfloat16 round otherwise.
        if (stored != stored_type::bfloat16_pair)
          check_bits(same[1 + static_cast<int>(as)], result, "packed: ");
      }
    });
  }
}

}  // namespace

owning_call<> call_of(const product& p, const epilogue& e) {
  owning_call<> c;
  c.kind = op::dot;
  for (const auto& [axis, length] : p.length) {
    const int i = c.loops++;
    c.extent[i] = length;
    std::size_t o = 0;
    for (const std::string* axes : {&p.result, &p.left, &p.right})
      c.operands[o++].stride[i] = stride_of(*axes, axis, p);
    for (const std::string& axes : e.addends) c.operands[o++].stride[i] = stride_of(axes, axis, p);
  }
  c.scale = e.scale;
  c.epilogue = e.then;
  return c;
}

void check(const product& p, const std::vector<epilogue>& all) {
  owning_call<> c = call_of(p);
  std::vector<float> left = random_values(reach(c, 1)), right = random_values(reach(c, 2));
  const sums of_products = sums_of(c, left, right);
  c.operands[1].data = left.data();
  c.operands[2].data = right.data();
  const bool packs = can_be_packed(c) && depth_of(c) != 0 && !of_products.sum.empty();
  const auto quantized = [&](precision as) {
    return packs ? sums_of_quantized(c, left, right, as) : of_products;
  };
  const sums of_quantized[]{quantized(precision::q8_0), quantized(precision::q4_0)};
  for (const epilogue& e : all) check_with(e, p, left, right, of_products, of_quantized);
}

void check_paddings(product p, const std::vector<epilogue>& all) {
  for (const std::ptrdiff_t padding : {0, 3}) {
    p.padding = padding;
    check(p, all);
  }
}

}  // namespace weft::kernels::products
