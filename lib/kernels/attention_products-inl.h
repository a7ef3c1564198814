// The products of attention: tiles of sums in registers.
#if defined(WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using query_tag = hn::CappedTag<float, max_dot_lanes>;
using query_vec = hn::Vec<query_tag>;

// Sums, the vectors of the right operand and one element of the left one stay in registers: 24 + 3
// + 1 of the 32 that AVX-512 and 64-bit Arm have, 12 + 3 + 1 of 16 elsewhere.
constexpr std::size_t product_rows =
    (HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX3 : HWY_ARCH_ARM_A64) ? 8 : 4;

// result[r, q] = the sum over k of left[r, k] * right[k, q] for the queries q of a tile. The left
// operand is any array, read an element at a time; the others have their queries side by side.
struct products {
  const float* left;
  std::ptrdiff_t left_row, left_step;  // strides of r and k
  const float* right;
  float* result;
  std::size_t rows, depth;
  std::ptrdiff_t pitch;  // the stride of k in the right operand, and of r in the result
  const float* factors;  // if any: the sums are added to factors[q] * what the result is
};

template <std::size_t V>
HWY_INLINE query_vec pick(query_vec v0, query_vec v1, query_vec v2) {
  if constexpr (V == 0)
    return v0;
  else if constexpr (V == 1)
    return v1;
  else
    return v2;
}

// The sums are a pack of parameters, not an array, so that each is a register even where vectors
// have no size that the compiler knows.
template <std::size_t Vectors, std::size_t... R, std::size_t... I, class... Sums>
HWY_INLINE void sum_products(std::index_sequence<R...>, std::index_sequence<I...>,
                             const products& p, std::size_t first, Sums... sums) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  const std::ptrdiff_t step = p.left_step, pitch = p.pitch;
  const float* left = p.left + static_cast<std::ptrdiff_t>(first) * p.left_row;
  const float* row[]{left + static_cast<std::ptrdiff_t>(R) * p.left_row...};
  const float* b = p.right;
  std::ptrdiff_t at = 0;
  for (std::size_t k = p.depth; k != 0; --k, at += step, b += pitch) {
    const query_vec b0 = hn::LoadU(d, b);
    const query_vec b1 = Vectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    const query_vec b2 = Vectors > 2 ? hn::LoadU(d, b + 2 * lanes) : b0;
    ((sums = hn::MulAdd(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(b0, b1, b2), sums)),
     ...);
  }
  float* to = p.result + static_cast<std::ptrdiff_t>(first) * pitch;
  if (p.factors != nullptr) {
    const query_vec f0 = hn::LoadU(d, p.factors);
    const query_vec f1 = Vectors > 1 ? hn::LoadU(d, p.factors + lanes) : f0;
    const query_vec f2 = Vectors > 2 ? hn::LoadU(d, p.factors + 2 * lanes) : f0;
    ((sums = hn::MulAdd(
          hn::LoadU(d, to + static_cast<std::ptrdiff_t>(I / Vectors) * pitch + I % Vectors * lanes),
          pick<I % Vectors>(f0, f1, f2), sums)),
     ...);
  }
  (hn::StoreU(sums, d, to + static_cast<std::ptrdiff_t>(I / Vectors) * pitch + I % Vectors * lanes),
   ...);
}

template <std::size_t Rows, std::size_t Vectors, class... Sums>
HWY_INLINE void with_sums(const products& p, std::size_t first, Sums... sums) {
  if constexpr (sizeof...(Sums) == Rows * Vectors) {
    sum_products<Vectors>(std::make_index_sequence<Rows>(),
                          std::make_index_sequence<Rows * Vectors>(), p, first, sums...);
  } else {
    with_sums<Rows, Vectors>(p, first, sums..., hn::Zero(query_tag()));
  }
}

// From row `first` on, as many times Rows as there are. Returns the first row that is left.
template <std::size_t Rows, std::size_t Vectors>
HWY_NOINLINE std::size_t multiply_rows(const products& p, std::size_t first) {
  for (; first + Rows <= p.rows; first += Rows) with_sums<Rows, Vectors>(p, first);
  return first;
}

template <std::size_t Vectors>
void multiply(const products& p) {
  std::size_t first = 0;
  if constexpr (product_rows == 8) first = multiply_rows<8, Vectors>(p, first);
  first = multiply_rows<4, Vectors>(p, first);
  multiply_rows<1, Vectors>(p, first);
}

inline void multiply(const products& p, std::size_t vectors) {
  if (vectors == 1) return multiply<1>(p);
  if (vectors == 2) return multiply<2>(p);
  multiply<3>(p);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
