// The building blocks of generated functions: vectors whose lanes are known at compile time, loops
// with constant strides, and packing.
#if defined(WEFT_GENERATE_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_VECTORS_INL_H_
#undef WEFT_GENERATE_VECTORS_INL_H_
#else
#define WEFT_GENERATE_VECTORS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/generate/signature.hpp"
#include "weft/kernels/hwy-inl.h"

// Code is generated for this target: not for vectors of one lane, nor for scalable ones, whose
// lanes are unknown at compile time. The headers of this folder are included for every target, and
// are empty if it is not: HWY_TARGET_TOGGLE alternates between targets, so that a header left out
// for one would take the next target for one that it has been included for.
#undef WEFT_GENERATES
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
#define WEFT_GENERATES
#endif

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int vector_registers = kernels::HWY_NAMESPACE::has_32_registers ? 32 : 16;

// The longest rows that stay in registers, on every target of a family: others are left to the
// library's kernels, whose sums have other bits.
inline constexpr std::ptrdiff_t max_row_elements = HWY_NATIVE_FMA ? 64 : 32;

// The vector tag for rows of n floats: no longer than the rows, if the target has such short
// vectors.
template <std::ptrdiff_t n>
using lanes_for = hn::CappedTag<float, std::clamp<std::size_t>(
                                           std::bit_ceil(static_cast<std::size_t>(n)), 4, 16)>;
template <class D>
inline constexpr int lanes_of = static_cast<int>(hn::MaxLanes(D()));

// Load and store the first n lanes.
template <class D, int n>
HWY_INLINE hn::Vec<D> load(const float* p) {
  if constexpr (n == lanes_of<D>)
    return hn::LoadU(D(), p);
  else
    return kernels::HWY_NAMESPACE::load_n(D(), p, n);
}
template <class D, int n>
HWY_INLINE void store(hn::Vec<D> v, float* p) {
  if constexpr (n == lanes_of<D>)
    hn::StoreU(v, D(), p);
  else
    kernels::HWY_NAMESPACE::store_n(v, D(), p, n);
}

// Pointers to an instruction's operands: the result, then the inputs. All elements have four bytes.
struct operands {
  float* at[max_nest_operands];

  HWY_INLINE float* write() const { return at[0]; }
  HWY_INLINE const float* read(int i) const { return at[i]; }
  HWY_INLINE void advance(const loop& along) { *this = advanced(along, 1); }
  HWY_INLINE operands advanced(const loop& along, std::ptrdiff_t times) const {
    operands there = *this;
    for (int i = 0; i < max_nest_operands; ++i) there.at[i] += times * along.stride[i];
    return there;
  }
};

// The first operands of a call.
template <int Count>
HWY_INLINE operands operands_of(const kernels::call& c) {
  operands all{};
  for (int o = 0; o < Count; ++o) all.at[o] = static_cast<float*>(c.operands[o].data);
  return all;
}

// Calls f at each index of the nest, from loop L on. In nests with many iterations f should be
// a class: a lambda may not be inlined.
template <loop_nest N, int L = 0, class F>
HWY_INLINE void for_each(operands at, const F& f) {
  if constexpr (L == N.loops) {
    f(at);
  } else {
    constexpr loop here = N.at(L);
    for (std::ptrdiff_t i = 0; i < here.extent; ++i) {
      for_each<N, L + 1>(at, f);
      if (i + 1 < here.extent) at.advance(here);
    }
  }
}

// Loads four floats each from `lanes` / 4 rows, whose indices have stride 4. Indices are clamped to
// the last row.
template <int lanes, int rows, std::ptrdiff_t stride, int row>
HWY_INLINE auto load_blocks(const float* from) {
  const hn::CappedTag<float, lanes> d;
  if constexpr (lanes == 4)
    return hn::LoadU(d, from + std::min(row, rows - 1) * stride);
  else
    return hn::Combine(d, load_blocks<lanes / 2, rows, stride, row + lanes / 2>(from),
                       load_blocks<lanes / 2, rows, stride, row>(from));
}

// Transposes four columns of up to `lanes` rows to four rows, with stride `to_stride`.
template <int lanes, int rows, std::ptrdiff_t stride, std::ptrdiff_t to_stride>
HWY_INLINE void transpose_4(const float* from, float* to) {
  const hn::CappedTag<float, lanes> d;
  const hn::Repartition<std::uint64_t, decltype(d)> pairs;
  const auto a = load_blocks<lanes, rows, stride, 0>(from);
  const auto b = load_blocks<lanes, rows, stride, 1>(from);
  const auto c = load_blocks<lanes, rows, stride, 2>(from);
  const auto e = load_blocks<lanes, rows, stride, 3>(from);
  const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, to + 3 * to_stride);
}

// pack for columns whose elements are contiguous along the depth.
template <std::ptrdiff_t depth, std::ptrdiff_t columns, std::ptrdiff_t column_stride,
          std::ptrdiff_t row>
HWY_INLINE void pack_transposed(const float* from, float* to) {
  constexpr int lanes = lanes_of<lanes_for<columns>>;
  constexpr int tail = static_cast<int>(columns % lanes);
  const auto micro_panel = [from, to]<int n>(std::integral_constant<int, n>, std::ptrdiff_t c)
                               HWY_ATTR {
                                 for (std::ptrdiff_t k = 0; k < depth; k += 4) {
                                   // The last four overlap those before.
                                   const std::ptrdiff_t first = std::min(k, depth - 4);
                                   transpose_4<lanes, n, column_stride, row>(
                                       from + c * column_stride + first, to + first * row + c);
                                 }
                               };
  for (std::ptrdiff_t c = 0; c + lanes <= columns; c += lanes)
    micro_panel(std::integral_constant<int, lanes>(), c);
  if constexpr (tail != 0) micro_panel(std::integral_constant<int, tail>(), columns - tail);
}

// Packs depth x columns into rows of stride `row`, padded to full vectors. The padding repeats a
// column.
template <std::ptrdiff_t depth, std::ptrdiff_t columns, std::ptrdiff_t depth_stride,
          std::ptrdiff_t column_stride, std::ptrdiff_t row>
HWY_INLINE void pack(const float* from, float* to) {
  constexpr int lanes = lanes_of<lanes_for<columns>>;
  if constexpr (depth_stride == 1 && depth >= 4 && lanes >= 4) {
    pack_transposed<depth, columns, column_stride, row>(from, to);
  } else {
    for (std::ptrdiff_t k = 0; k < depth; ++k)
      for (std::ptrdiff_t c = 0; c < row; ++c)
        to[k * row + c] = from[k * depth_stride + std::min(c, columns - 1) * column_stride];
  }
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
