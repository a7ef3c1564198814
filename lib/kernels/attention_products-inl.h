// The products of attention: tiles of sums in registers.
#if defined(WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using query_tag = hn::CappedTag<float, max_dot_lanes>;
using query_vec = hn::Vec<query_tag>;

// Sums, the vectors of the right operand and one element of the left one stay in registers: up to
// 24 + 4 + 1 of 32, or 12 + 2 + 1 of 16. With none to spare, clang 19 would put sums on the stack.
constexpr std::size_t product_sums = has_32_registers ? 24 : 12;
constexpr std::size_t product_vectors = has_32_registers ? 4 : 2;

// result[r, c] = the sum over k of left[r, k] * right[k, c], plus factors[r] * earlier[r, c], times
// scales[r]. The left operand is any array, read an element at a time; the columns of the others
// lie side by side, in whole vectors.
struct products {
  const float* left;
  std::ptrdiff_t left_row, left_step;  // strides of r and k
  const float* right;
  std::ptrdiff_t right_step;  // stride of k
  float* result;
  std::ptrdiff_t result_row;  // stride of r
  std::size_t rows, depth;
  const float* earlier = nullptr;
  std::ptrdiff_t earlier_row = 0;
  const float* factors = nullptr;  // null: nothing is added
  const float* scales = nullptr;   // null: all are 1
};

template <std::size_t V>
HWY_INLINE query_vec pick(query_vec v0, query_vec v1, query_vec v2, query_vec v3) {
  if constexpr (V == 0)
    return v0;
  else if constexpr (V == 1)
    return v1;
  else if constexpr (V == 2)
    return v2;
  else
    return v3;
}

// The sums are a pack of parameters, not an array, so that each is a register even where vectors
// have no size that the compiler knows.
template <std::size_t Vectors, std::size_t... R, std::size_t... I, class... Sums>
HWY_INLINE void sum_products(std::index_sequence<R...>, std::index_sequence<I...>,
                             const products& p, std::size_t first, std::size_t column,
                             Sums... sums) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::ptrdiff_t left_step = p.left_step, right_step = p.right_step;
  const float* left = p.left + static_cast<std::ptrdiff_t>(first) * p.left_row;
  const float* row[]{left + static_cast<std::ptrdiff_t>(R) * p.left_row...};
  const float* b = p.right + column;
  std::ptrdiff_t at = 0;
  // Four at a time, which needs fewer instructions and lets the processor foresee the last turn.
#pragma GCC unroll 4
  for (std::size_t k = p.depth; k != 0; --k, at += left_step, b += right_step) {
    const query_vec b0 = hn::LoadU(d, b);
    const query_vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const query_vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    const query_vec b3 = Vectors > 3 ? hn::LoadU(d, b + 3 * lanes) : b0;
    ((sums = hn::MulAdd(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(b0, b1, b2, b3), sums)),
     ...);
  }
  const auto place = [=](std::size_t i, std::ptrdiff_t pitch) HWY_ATTR {
    return static_cast<std::ptrdiff_t>(first + i / Vectors) * pitch +
           static_cast<std::ptrdiff_t>(column + i % Vectors * lanes);
  };
  if (const float* const factors = p.factors; factors != nullptr)
    ((sums = hn::MulAdd(hn::LoadU(d, p.earlier + place(I, p.earlier_row)),
                        hn::Set(d, factors[first + I / Vectors]), sums)),
     ...);
  if (const float* const scales = p.scales; scales != nullptr)
    ((sums = hn::Mul(hn::Set(d, scales[first + I / Vectors]), sums)), ...);
  // Of its own, as what is stored might be p.
  float* const result = p.result;
  const std::ptrdiff_t result_row = p.result_row;
  (hn::StoreU(sums, d, result + place(I, result_row)), ...);
}

template <std::size_t Rows, std::size_t Vectors, class... Sums>
HWY_INLINE void with_sums(const products& p, std::size_t first, std::size_t column, Sums... sums) {
  if constexpr (sizeof...(Sums) == Rows * Vectors) {
    sum_products<Vectors>(std::make_index_sequence<Rows>(),
                          std::make_index_sequence<Rows * Vectors>(), p, first, column, sums...);
  } else {
    with_sums<Rows, Vectors>(p, first, column, sums..., hn::Zero(query_tag()));
  }
}

// The rows from `first` to `end` and the columns from `column` on, as many times Rows as there are.
// Returns the first that is left.
template <std::size_t Rows, std::size_t Vectors>
HWY_NOINLINE std::size_t multiply_rows(const products& p, std::size_t first, std::size_t end,
                                       std::size_t column) {
  for (; first + Rows <= end; first += Rows) with_sums<Rows, Vectors>(p, first, column);
  return first;
}

template <std::size_t Vectors>
void multiply_columns(const products& p, std::size_t column) {
  constexpr std::size_t most = std::min<std::size_t>(product_sums / Vectors, 8);
  // Rather twice four rows than six and single ones.
  const bool twice_four = most == 6 && p.rows >= 8 && (p.rows % 6 == 2 || p.rows % 6 == 3);
  std::size_t first = multiply_rows<most, Vectors>(p, 0, twice_four ? p.rows - 8 : p.rows, column);
  if constexpr (most > 4) first = multiply_rows<4, Vectors>(p, first, p.rows, column);
  multiply_rows<1, Vectors>(p, first, p.rows, column);
}

// So many vectors of columns. Where all but one would fit, they are divided: a single one reads an
// element for every product.
inline void multiply(const products& p, std::size_t vectors) {
  const std::size_t lanes = hn::Lanes(query_tag());
  for (std::size_t v = 0, some; v < vectors; v += some) {
    const std::size_t left = vectors - v;
    some = left == product_vectors + 1 ? product_vectors - 1 : std::min(left, product_vectors);
    if (some == 1)
      multiply_columns<1>(p, v * lanes);
    else if (some == 2)
      multiply_columns<2>(p, v * lanes);
    else if constexpr (product_vectors == 4)
      some == 3 ? multiply_columns<3>(p, v * lanes) : multiply_columns<4>(p, v * lanes);
  }
}

// The products of a single column, whose sums run along vectors: both operands have left_step and
// right_step 1, and the right one is filled up with zeros to whole vectors. A sum goes to all lanes
// of its row.
inline HWY_NOINLINE void multiply_one_column(const products& p) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < p.rows; ++r) {
    const float* row = p.left + static_cast<std::ptrdiff_t>(r) * p.left_row;
    auto sum = hn::Zero(d);
    std::size_t k = 0;
    for (; k + lanes <= p.depth; k += lanes)
      sum = hn::MulAdd(hn::LoadU(d, row + k), hn::LoadU(d, p.right + k), sum);
    if (k < p.depth)
      sum = hn::MulAdd(load_n(d, row + k, p.depth - k), hn::LoadU(d, p.right + k), sum);
    hn::StoreU(hn::SumOfLanes(d, sum), d, p.result + static_cast<std::ptrdiff_t>(r) * p.result_row);
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
