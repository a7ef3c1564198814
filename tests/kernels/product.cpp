#include "kernels/product.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "kernels/aligned.hpp"
#include "kernels/dot.hpp"
#include "kernels/parts.hpp"
#include "weft/kernels/dot_blocking.hpp"

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
std::size_t reach(const call& c, int operand) {
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

struct expectation {
  std::vector<double> sum;        // NaN where the result must not be written
  std::vector<double> magnitude;  // the sum of the magnitudes of all terms
};

void accumulate(const call& c, const float* left, const float* right, int loop,
                std::ptrdiff_t at_result, std::ptrdiff_t at_left, std::ptrdiff_t at_right,
                expectation& e) {
  if (loop == c.loops) {
    const double x = static_cast<double>(left[at_left]) * static_cast<double>(right[at_right]);
    e.sum[static_cast<std::size_t>(at_result)] += x;
    e.magnitude[static_cast<std::size_t>(at_result)] += std::abs(x);
    return;
  }
  for (std::ptrdiff_t i = 0; i < c.extent[loop]; ++i) {
    accumulate(c, left, right, loop + 1, at_result + i * c.operands[0].stride[loop],
               at_left + i * c.operands[1].stride[loop], at_right + i * c.operands[2].stride[loop],
               e);
  }
}

// Calls f for every element of the result, with its offset in each operand.
template <class F>
void for_result(const call& c, F f, std::array<std::ptrdiff_t, 5> at = {}, int loop = 0) {
  if (loop == c.loops) return f(at);
  const std::ptrdiff_t extent = c.operands[0].stride[loop] == 0 ? 1 : c.extent[loop];
  for (std::ptrdiff_t i = 0; i < extent; ++i) {
    for_result(c, f, at, loop + 1);
    for (std::size_t o = 0; o < at.size(); ++o) at[o] += c.operands[o].stride[loop];
  }
}

double activation(weft::op kind, double x) {
  switch (kind) {
    case weft::op::relu:
      return std::max(x, 0.0);
    case weft::op::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case weft::op::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    case weft::op::tanh:
      return std::tanh(x);
    case weft::op::sigmoid:
      return 1 / (1 + std::exp(-x));
    default:
      return x;
  }
}

std::ptrdiff_t depth_of(const call& c) {
  std::ptrdiff_t n = 1;
  for (int i = 0; i < c.loops; ++i) {
    if (c.operands[0].stride[i] == 0) n *= c.extent[i];
  }
  return n;
}

std::string describe(const product& p) {
  std::string s = p.left + ',' + p.right + "->" + p.result;
  for (const auto& [axis, length] : p.length) s += ' ' + (axis + ('=' + std::to_string(length)));
  for (const std::string& addend : p.addends) s += " + " + addend;
  s += " scale " + std::to_string(p.scale) + " then " + std::string(weft::name_of(p.epilogue));
  return s + " padding " + std::to_string(p.padding);
}

std::vector<float> random_values(std::size_t n) {
  std::mt19937 generator(static_cast<unsigned>(n) + 1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = uniform(generator);
  return v;
}

}  // namespace

call call_of(const product& p) {
  call c;
  c.kind = weft::op::dot;
  for (const auto& [axis, length] : p.length) {
    const int i = c.loops++;
    c.extent[i] = length;
    c.operands[0].stride[i] = stride_of(p.result, axis, p);
    c.operands[1].stride[i] = stride_of(p.left, axis, p);
    c.operands[2].stride[i] = stride_of(p.right, axis, p);
    for (std::size_t j = 0; j < p.addends.size(); ++j) {
      c.operands[3 + j].stride[i] = stride_of(p.addends[j], axis, p);
    }
  }
  c.scale = p.scale;
  c.epilogue = p.epilogue;
  return c;
}

void check(const product& p) {
  BOOST_TEST_CONTEXT(describe(p)) {
    call c = call_of(p);
    std::vector<float> left = random_values(reach(c, 1)), right = random_values(reach(c, 2));
    const std::size_t size = reach(c, 0);
    expectation e{std::vector(size, std::nan("")), std::vector(size, 0.0)};
    for_result(c, [&](const auto& at) { e.sum[static_cast<std::size_t>(at[0])] = 0; });
    accumulate(c, left.data(), right.data(), 0, 0, 0, 0, e);

    std::vector<std::vector<float>> addends;
    for (std::size_t j = 0; j < p.addends.size(); ++j) {
      const int o = 3 + static_cast<int>(j);
      addends.push_back(random_values(reach(c, o) + j));
      c.operands[o].data = addends[j].data();
    }
    for_result(c, [&](const auto& at) {
      const auto i = static_cast<std::size_t>(at[0]);
      e.sum[i] *= p.scale;
      e.magnitude[i] *= std::abs(p.scale);
      for (std::size_t j = 0; j < addends.size(); ++j) {
        const double x = addends[j][static_cast<std::size_t>(at[3 + j])];
        e.sum[i] += x;
        e.magnitude[i] += std::abs(x);
      }
    });

    // Error of a sum of K products in any order, each step rounded: Higham's gamma of K times the
    // sum of their magnitudes, with K u / (1 - K u) bounded by K epsilon as u is half of epsilon.
    // Four more roundings for the scale, which is a float too, and the addends.
    const bool plain = p.addends.empty() && p.scale == 1;
    const double bound = (static_cast<double>(depth_of(c)) + (plain ? 0 : 4)) *
                         std::numeric_limits<float>::epsilon();
    // No activation has a slope beyond 1.13. The functions that they are computed from are at most
    // 1, rounded a few times, and gelu multiplies them by x.
    const auto allowed = [&](double sum, double magnitude) {
      if (p.epilogue == weft::op::copy) return bound * magnitude;
      return 1.13 * bound * magnitude +
             4 * std::numeric_limits<float>::epsilon() * (1 + std::abs(sum));
    };

    // A packed operand that is rounded to bfloat16 has a relative error of 2^-8, and so has each
    // product; where both operands are rounded, it is twice that plus its square.
    const auto wrong_in = [&](const std::vector<float>& result, double rounded) {
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const bool right_here =
            std::isnan(e.sum[i])
                ? result[i] == untouched
                : std::abs(static_cast<double>(result[i]) - activation(p.epilogue, e.sum[i])) <=
                      allowed(e.sum[i], e.magnitude[i]) + 1.13 * rounded * e.magnitude[i];
        wrong += right_here ? 0 : 1;
      }
      return wrong;
    };
    const aligned scratch(weft::kernels::dot_scratch_bytes(c));
    c.scratch = scratch.data();
    c.operands[1].data = left.data();
    c.operands[2].data = right.data();
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      const auto run = [&](call one) {
        std::vector<float> result(size, untouched);
        one.operands[0].data = result.data();
        weft::kernels::dot_kernel()(one);
        return result;
      };
      const auto run_in_parts = [&](call some, int parts) {
        std::vector<float> result(size, untouched);
        some.operands[0].data = result.data();
        for (int i = 0; i < parts; ++i) {
          some.part = weft::kernels::part_of(i, parts);
          weft::kernels::dot_kernel()(some);
        }
        return result;
      };
      const std::vector<float> whole = run(c);
      BOOST_TEST(wrong_in(whole, 0) == 0u, hwy::TargetName(target) << ", of " << size);
      for (const int parts : {2, 3})
        BOOST_TEST((run_in_parts(c, parts) == whole), hwy::TargetName(target) << " in " << parts);

      const std::pair<weft::precision, double> precisions[]{
          {weft::precision::float32, 0},
          {weft::precision::bfloat16, 0x1p-8},
          {weft::precision::bfloat16_products, 0x1p-7 + 0x1p-16}};
      for (const auto& [as, rounded] : precisions) {
        if (!weft::kernels::can_be_packed(c) || depth_of(c) == 0 || size == 0) break;
        call q = c;
        q.packed_as = as;
        const aligned packed(weft::kernels::packed_bytes(c, as));
        weft::kernels::pack_dot_kernel()(q, packed.data());
        q.packed = packed.data();
        // The operand that is packed must not be read.
        q.operands[weft::kernels::rhs_operand(c)].data = nullptr;
        const std::vector<float> result = run(q);
        BOOST_TEST(wrong_in(result, rounded) == 0u, hwy::TargetName(target)
                                                        << " packed, of " << size);
        BOOST_TEST((run_in_parts(q, 2) == result), hwy::TargetName(target) << " packed in 2");
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

void check_paddings(product p) {
  for (const std::ptrdiff_t padding : {0, 3}) {
    p.padding = padding;
    check(p);
  }
}

}  // namespace weft::kernels::products
