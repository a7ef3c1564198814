// Contractions with few rows, which read the right operand once, line by line.
#if defined(WEFT_KERNELS_DOT_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_LINES_INL_H_
#undef WEFT_KERNELS_DOT_LINES_INL_H_
#else
#define WEFT_KERNELS_DOT_LINES_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "kernels/dot_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// How many columns share the reading of a row in dot_products.
constexpr std::size_t dot_columns = 4;

// sums[i] = the sum of row[k] * column[i][k], with vectors along k.
HWY_INLINE void dot_products(const float* row, const float* const (&column)[dot_columns],
                             std::size_t depth, float* sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  vec sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  std::size_t k = 0;
  for (; k + lanes <= depth; k += lanes) {
    const vec x = hn::LoadU(d, row + k);
    sum0 = hn::MulAdd(x, hn::LoadU(d, column[0] + k), sum0);
    sum1 = hn::MulAdd(x, hn::LoadU(d, column[1] + k), sum1);
    sum2 = hn::MulAdd(x, hn::LoadU(d, column[2] + k), sum2);
    sum3 = hn::MulAdd(x, hn::LoadU(d, column[3] + k), sum3);
  }
  if (const std::size_t left = depth - k; left != 0) {
    const vec x = load_n(d, row + k, left);
    sum0 = hn::MulAdd(x, load_n(d, column[0] + k, left), sum0);
    sum1 = hn::MulAdd(x, load_n(d, column[1] + k, left), sum1);
    sum2 = hn::MulAdd(x, load_n(d, column[2] + k, left), sum2);
    sum3 = hn::MulAdd(x, load_n(d, column[3] + k, left), sum3);
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d, sum0));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, sum1));
  sums[2] = hn::GetLane(hn::SumOfLanes(d, sum2));
  sums[3] = hn::GetLane(hn::SumOfLanes(d, sum3));
}

// How many lines of the right operand are read at the same time in add_lines.
constexpr std::size_t lines_at_once = 8;

// to[j] = (add ? to[j] : 0) + the sum of factor[i] * right[i * step + j], one i after the other.
template <class... Factors>
HWY_INLINE void add_lines(const float* right, std::ptrdiff_t step, std::size_t columns, float* to,
                          bool add, Factors... factors) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    vec sum = add ? hn::LoadU(d, to + j) : hn::Zero(d);
    const float* from = right + j;
    ((sum = hn::MulAdd(factors, hn::LoadU(d, from), sum), from += step), ...);
    hn::StoreU(sum, d, to + j);
  }
  if (const std::size_t left = columns - j; left != 0) {
    vec sum = add ? load_n(d, to + j, left) : hn::Zero(d);
    const float* from = right + j;
    ((sum = hn::MulAdd(factors, load_n(d, from, left), sum), from += step), ...);
    store_n(sum, d, to + j, left);
  }
}

// One line for each element of the left operand, `step_left` from the one before.
template <std::size_t... I>
HWY_NOINLINE void add_lines(std::index_sequence<I...>, const float* left, std::ptrdiff_t step_left,
                            const float* right, std::ptrdiff_t step, std::size_t columns, float* to,
                            bool add) {
  const tag d;
  add_lines(right, step, columns, to, add,
            hn::Set(d, left[static_cast<std::ptrdiff_t>(I) * step_left])...);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
