// The contraction kernel of every target that this machine runs, against a plain loop nest.
#include "kernels/dot.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hwy/targets.h"
#include "kernels/parts.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace {

using weft::kernels::call;

using extents = std::map<char, std::ptrdiff_t>;

constexpr float untouched = 12345.0f;

// A contraction written as in einsum: an axis is a letter, an operand lists its axes from the
// outermost to the innermost in memory.
struct product {
  std::string result, left, right;
  extents length;
  std::ptrdiff_t padding = 0;  // added to each extent in the strides of all operands
  std::vector<std::string> addends{};
  double scale = 1;
  weft::op epilogue = weft::op::copy;
};

std::ptrdiff_t stride_of(const std::string& axes, char axis, const product& p) {
  if (axes.find(axis) == std::string::npos) return 0;
  std::ptrdiff_t stride = 1;
  for (auto a = axes.rbegin(); *a != axis; ++a) stride *= p.length.at(*a) + p.padding;
  return stride;
}

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

// `bytes`, rounded up to a cache line, so that the address sanitizer catches any access beyond
// them.
class aligned {
 public:
  explicit aligned(std::size_t bytes)
      : memory_(std::aligned_alloc(64, weft::kernels::round_up(bytes, 64)), std::free) {}
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
};

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
        q.operands[weft::kernels::columns_operand(c)].data = nullptr;
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

const std::ptrdiff_t lengths[]{0, 1, 3, 17, 100};

}  // namespace

BOOST_AUTO_TEST_SUITE(dot)

BOOST_AUTO_TEST_CASE(matrix_products_are_right_in_every_layout_and_for_every_extent) {
  for (const char* result : {"mn", "nm"}) {
    for (const char* left : {"mk", "km"}) {
      for (const char* right : {"kn", "nk"}) {
        for (const auto m : lengths) {
          for (const auto n : lengths) {
            for (const auto k : lengths) {
              check_paddings({result, left, right, {{'m', m}, {'n', n}, {'k', k}}});
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(batched_matrix_products_are_right) {
  for (const auto batch : lengths) {
    for (const auto n : lengths) {
      const extents e{{'b', batch}, {'m', 5}, {'n', n}, {'k', 17}};
      check_paddings({"bmn", "bmk", "bkn", e});
      check_paddings({"bmn", "bmk", "bnk", e});
      check_paddings({"mnb", "mkb", "knb", e});  // the batch is innermost
      check_paddings({"mbn", "kbm", "bkn", e});
    }
  }
}

BOOST_AUTO_TEST_CASE(products_with_vectors_are_right) {
  for (const auto n : lengths) {
    for (const auto k : lengths) {
      const extents e{{'n', n}, {'k', k}};
      check_paddings({"n", "k", "kn", e});
      check_paddings({"n", "k", "nk", e});
      check_paddings({"n", "kn", "k", e});
      check_paddings({"n", "nk", "k", e});
      check_paddings({"kn", "k", "n", e});  // an outer product
      check_paddings({"", "k", "k", {{'k', k}}});
    }
  }
}

// m, n and k consist of several loops that do not coalesce into one.
BOOST_AUTO_TEST_CASE(tensor_contractions_are_right_for_any_axis_order) {
  for (const std::ptrdiff_t d : {3, 16, 32, 100}) {
    const extents attention{{'b', 2}, {'p', 17}, {'h', 3}, {'d', d}, {'k', 19}};
    check_paddings({"bphk", "bphd", "bkhd", attention});
    check_paddings({"bphd", "bphk", "bkhd", attention});
    check_paddings({"bhpk", "bphd", "bkhd", attention});
    const extents projection{{'b', 2}, {'p', 7}, {'h', 3}, {'d', d}, {'e', 33}};
    check_paddings({"bphd", "bpe", "ehd", projection});
    check_paddings({"bphd", "bpe", "hde", projection});
    check_paddings({"bphd", "bpe", "hed", projection});
    check_paddings({"bphd", "bpe", "dhe", projection});
    check_paddings({"bhpd", "bpe", "ehd", projection});
    check_paddings({"hbdp", "bpe", "ehd", projection});
    check_paddings({"bpe", "bphd", "hde", projection});
    check_paddings({"bpe", "bphd", "dhe", projection});
    check_paddings({"bpe", "bhpd", "ehd", projection});
    check_paddings({"ehd", "bpe", "bphd", projection});
    check_paddings({"hde", "bpe", "bhpd", projection});
    check_paddings({"dhe", "ebp", "pbdh", projection});
  }
}

BOOST_AUTO_TEST_CASE(products_larger_than_the_cache_blocks_are_right) {
  for (const auto& e :
       {extents{{'m', 130}, {'n', 515}, {'k', 97}}, extents{{'m', 200}, {'n', 1030}, {'k', 70}},
        extents{{'m', 140}, {'n', 70}, {'k', 1060}}}) {
    check({"mn", "mk", "kn", e});
    check({"mn", "mk", "nk", e});
    check({"mn", "km", "kn", e});
    check({"nm", "km", "nk", e});
  }
  for (const std::ptrdiff_t k : {2000, 2085})
    check({"mn", "mk", "kn", {{'m', 21}, {'n', 70}, {'k', k}}});
  const extents e{{'b', 3}, {'p', 101}, {'h', 33}, {'d', 32}, {'e', 20}};
  check_paddings({"bphd", "bpe", "hed", e});
  check_paddings({"bpe", "bphd", "hed", e});
  check_paddings({"hed", "bpe", "bphd", e});
}

constexpr weft::op activations[]{weft::op::copy,      weft::op::relu, weft::op::gelu,
                                 weft::op::gelu_tanh, weft::op::tanh, weft::op::sigmoid};

// The addends (biases and residuals) that a matrix product can have.
const std::vector<std::string> addends_of_matrices[]{
    {}, {"n"}, {"m"}, {"mn"}, {"nm"}, {""}, {"n", "mn"}, {"nm", "m"}, {"mn", "mn"}};

BOOST_AUTO_TEST_CASE(the_epilogue_scales_adds_and_applies_the_activation) {
  for (const char* result : {"mn", "nm"}) {
    for (const char* right : {"kn", "nk"}) {
      for (const auto& addends : addends_of_matrices) {
        for (const auto then : activations) {
          for (const auto& e :
               {extents{{'m', 1}, {'n', 50}, {'k', 20}}, extents{{'m', 3}, {'n', 1}, {'k', 17}},
                extents{{'m', 21}, {'n', 50}, {'k', 5}}, extents{{'m', 8}, {'n', 48}, {'k', 3}},
                extents{{'m', 4}, {'n', 19}, {'k', 1}}, extents{{'m', 5}, {'n', 18}, {'k', 0}}}) {
            check_paddings({result, "mk", right, e, 0, addends, -1.75, then});
            check({result, "mk", right, e, 0, addends, 1, then});
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_epilogue_is_applied_once_to_sums_over_several_cache_blocks) {
  const extents e{{'m', 139}, {'n', 70}, {'k', 1060}};
  for (const auto& addends : addends_of_matrices) {
    check_paddings({"mn", "mk", "kn", e, 0, addends, 0.125, weft::op::tanh});
    check_paddings({"nm", "km", "nk", e, 0, addends, 0.125, weft::op::relu});
  }
  const extents wide{{'m', 9}, {'n', 1100}, {'k', 260}};
  check_paddings({"mn", "mk", "nk", wide, 0, {"n", "mn"}, 0.125, weft::op::gelu});
}

BOOST_AUTO_TEST_CASE(the_epilogue_is_applied_to_tensor_contractions) {
  for (const std::ptrdiff_t d : {3, 16, 32}) {
    for (const auto then : activations) {
      const extents attention{{'b', 2}, {'p', 17}, {'h', 3}, {'d', d}, {'k', 19}};
      check_paddings({"bphk", "bphd", "bkhd", attention, 0, {"pk"}, 0.25, then});
      check_paddings({"bhpk", "bphd", "bkhd", attention, 0, {"bk", "hpk"}, 0.25, then});
      check_paddings({"bphd", "bphk", "bkhd", attention, 0, {"bphd", "hd"}, 0.25, then});
      const extents projection{{'b', 2}, {'p', 7}, {'h', 3}, {'d', d}, {'e', 33}};
      check_paddings({"bphd", "bpe", "hde", projection, 0, {"hd", "bphd"}, 0.25, then});
      check_paddings({"bhpd", "bpe", "ehd", projection, 0, {"dh", "bphd"}, 0.25, then});
      check_paddings({"bhpd", "bpe", "hed", projection, 0, {"d", "h"}, 0.25, then});
      check_paddings({"bpe", "bphd", "hde", projection, 0, {"e", "bpe"}, 0.25, then});
    }
  }
}

// Small m and large n, as in a model that decodes token by token.
BOOST_AUTO_TEST_CASE(products_with_few_rows_are_right) {
  for (const std::ptrdiff_t m : {1, 2, 4, 5}) {
    for (const std::ptrdiff_t n : {8, 64, 401, 1000}) {
      for (const std::ptrdiff_t k : {1, 7, 100, 600}) {
        const extents e{{'m', m}, {'n', n}, {'k', k}};
        check({"mn", "mk", "kn", e, 3, {"n"}, 0.5, weft::op::relu});
        check({"mn", "mk", "kn", e});
        check({"mn", "mk", "nk", e, 3, {"mn"}});
        check({"mn", "km", "nk", e, 3, {"n"}, 0.5, weft::op::relu});
      }
    }
  }
  // Strided rows of the lhs that are too long for the scratch they would be copied to.
  for (const std::ptrdiff_t m : {2, 4})
    check({"mn", "km", "nk", {{'m', m}, {'n', 8}, {'k', 20000}}});
}

BOOST_AUTO_TEST_CASE(packed_bfloat16_weights_are_rounded_to_nearest_even) {
  // A unit in the last place of a bfloat16 in [1, 2) is 2^-7.
  const std::pair<float, float> cases[]{{1, 1},
                                        {1 + 0x1p-8f, 1},  // ties go to even
                                        {1 + 0x1.8p-7f, 1 + 0x1p-6f},
                                        {1 + 0x1.01p-8f, 1 + 0x1p-7f},
                                        {-1 - 0x1.01p-8f, -1 - 0x1p-7f},
                                        {0x1.fffp0f, 2},
                                        {-0x1p-130f, -0x1p-130f}};
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const std::ptrdiff_t rows : {1, 9}) {
      for (const auto& [value, rounded] : cases) {
        call c = call_of({"mn", "mk", "kn", {{'m', rows}, {'n', 2}, {'k', 1}}});
        std::vector<float> ones(9, 1.0f), weights{value, value}, result(18);
        const aligned scratch(weft::kernels::dot_scratch_bytes(c));
        const aligned packed(weft::kernels::packed_bytes(c, weft::precision::bfloat16));
        c.scratch = scratch.data();
        c.operands[0].data = result.data();
        c.operands[1].data = ones.data();
        c.operands[2].data = weights.data();
        c.packed_as = weft::precision::bfloat16;
        weft::kernels::pack_dot_kernel()(c, packed.data());
        c.packed = packed.data();
        weft::kernels::dot_kernel()(c);
        for (std::ptrdiff_t i = 0; i < 2 * rows; ++i)
          BOOST_TEST(result[static_cast<std::size_t>(i)] == rounded, hwy::TargetName(target));
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// The microkernel's tile: 8 rows of 3 vectors with 32 registers, 4 rows with 16.
constexpr bool is_tile(std::size_t registers, std::size_t rows, std::size_t vectors) {
  const weft::kernels::dot_tile t = weft::kernels::tile_for(registers);
  return t.rows == rows && t.vectors == vectors;
}
static_assert(is_tile(32, 8, 3) && is_tile(16, 4, 3));

// The cache blocks that some extents, mostly of the benchmarks, are split into.
constexpr bool is_cut(weft::kernels::dot_blocks of, weft::kernels::dot_blocks into) {
  const weft::kernels::dot_blocks b = weft::kernels::blocks_of(of.rows, of.columns, of.depth);
  return b.rows == into.rows && b.columns == into.columns && b.depth == into.depth;
}
static_assert(is_cut({128, 1536, 384}, {128, 192, 384}));
static_assert(is_cut({512, 768, 768}, {128, 192, 768}));
static_assert(is_cut({512, 3072, 768}, {128, 192, 768}));
static_assert(is_cut({1024, 1024, 1024}, {128, 192, 1024}));
static_assert(is_cut({16, 32, 32}, {16, 32, 32}));  // one block: no tile is too wide for it
static_assert(is_cut({1, 3072, 768}, {1, 192, 768}));
static_assert(is_cut({300, 400, 1200}, {104, 144, 608}));

// Blocks fit the caches that they are sized for and are multiples of the microkernel's tile.
constexpr bool fits(std::size_t first_cache, std::size_t second_cache) {
  using namespace weft::kernels;
  const dot_blocks b = blocks_for(first_cache, second_cache);
  return b.depth * max_tile_rows * sizeof(float) <= first_cache &&
         b.depth * b.columns * sizeof(float) <= second_cache / 4 * 3 &&
         b.rows % max_tile_rows == 0 && b.columns % max_tile_columns == 0 &&
         b.depth % max_dot_lanes == 0 && b.rows > 0 && b.columns > 0 && b.depth > 0;
}
static_assert(fits(32 * 1024, 256 * 1024) && fits(32 * 1024, 512 * 1024));
static_assert(fits(32 * 1024, 1024 * 1024) && fits(48 * 1024, 2048 * 1024));

// Scratch is allocated for the largest extents; a run may have smaller ones.
BOOST_AUTO_TEST_CASE(the_scratch_of_a_product_does_not_shrink_when_an_extent_grows) {
  std::size_t before = 0;
  for (std::ptrdiff_t n = 0; n < 3000; n += 7) {
    const extents e{{'m', n}, {'n', 20}, {'k', 300}};
    const std::size_t bytes = weft::kernels::dot_scratch_bytes(call_of({"mn", "mk", "kn", e}));
    BOOST_TEST(bytes >= before);
    before = bytes;
  }
}

BOOST_AUTO_TEST_CASE(the_scratch_size_of_a_product_is_a_constant_expression) {
  constexpr std::size_t bytes = [] {
    call c;
    c.kind = weft::op::dot;
    c.loops = 3;
    c.extent[0] = 64, c.extent[1] = 32, c.extent[2] = 16;
    c.operands[0].stride[0] = 32, c.operands[0].stride[1] = 1;
    c.operands[1].stride[0] = 16, c.operands[1].stride[2] = 1;
    c.operands[2].stride[2] = 32, c.operands[2].stride[1] = 1;
    return weft::kernels::dot_scratch_bytes(c);
  }();
  BOOST_TEST(bytes < 32u * 1024);
}

BOOST_AUTO_TEST_SUITE_END()
