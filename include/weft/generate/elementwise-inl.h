// Small fusion groups of elementwise operations on floats, gathers of rows and rotations of pairs,
// with constant extents and strides.
#if defined(WEFT_GENERATE_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ELEMENTWISE_INL_H_
#undef WEFT_GENERATE_ELEMENTWISE_INL_H_
#else
#define WEFT_GENERATE_ELEMENTWISE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "weft/generate/rows_plan.hpp"
#include "weft/generate/vectors-inl.h"
#include "weft/kernels/vector_ops-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

template <elementwise_plan P>
struct fused_row {
  using D = lanes_for<P.length>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;

  // The first `count` elements from `at` on of input I.
  template <int count, int I>
  HWY_INLINE static V input(const operands& row, std::ptrdiff_t at) {
    if constexpr (P.broadcast[I])
      return hn::Set(D(), *row.read(I + 1));
    else
      return load<D, count>(row.read(I + 1) + at);
  }
  // The result of fused operation L from earlier values.
  template <int L>
  HWY_INLINE static V fused(const V* values) {
    constexpr kernels::fused_op of = P.fused[L];
    if constexpr (operands_of_elementwise(of.kind) == 1)
      return kernels::HWY_NAMESPACE::vector_op<of.kind>()(D(), values[of.from[0]]);
    else
      return kernels::HWY_NAMESPACE::vector_op<of.kind>()(D(), values[of.from[0]],
                                                          values[of.from[1]]);
  }

  template <int count, int... I, int... L>
  HWY_INLINE static void vector(std::integer_sequence<int, I...>, std::integer_sequence<int, L...>,
                                const operands& row, std::ptrdiff_t at) {
    V values[max_fused_inputs + P.fused_count];  // numbered as in fused_op
    ((values[I] = input<count, I>(row, at)), ...);
    ((values[max_fused_inputs + L] = fused<L>(values)), ...);
    store<D, count>(values[max_fused_inputs + P.fused_count - 1], row.write() + at);
  }
  template <int count>
  HWY_INLINE static void vector(const operands& row, std::ptrdiff_t at) {
    vector<count>(std::make_integer_sequence<int, P.inputs>(),
                  std::make_integer_sequence<int, P.fused_count>(), row, at);
  }

  HWY_INLINE void operator()(const operands& row) const {
    constexpr int tail = static_cast<int>(P.length % lanes);
    std::ptrdiff_t at = 0;
    for (; at + lanes <= P.length; at += lanes) vector<lanes>(row, at);
    if constexpr (tail != 0) vector<tail>(row, P.length - tail);
  }
};

template <elementwise_plan P>
void elementwise(const kernels::call& c) noexcept {
  for_each<P.rows>(operands_of<max_operands>(c), fused_row<P>());
}

template <std::ptrdiff_t n>
HWY_INLINE void copy_row(const float* from, float* to) {
  using D = lanes_for<n>;
  constexpr int lanes = lanes_of<D>;
  for (std::ptrdiff_t i = 0; i + lanes <= n; i += lanes)
    store<D, lanes>(load<D, lanes>(from + i), to + i);
  // Remainder: the last vector overlaps those before it.
  constexpr int last = static_cast<int>(std::min<std::ptrdiff_t>(n, lanes));
  if constexpr (n % lanes != 0) store<D, last>(load<D, last>(from + n - last), to + n - last);
}

// Elements of four bytes are copied as they are; an index outside of the table gives zeros.
template <gather_plan P>
void gather(const kernels::call& c) noexcept {
  for_each<P.rows>(operands_of<3>(c), [](const operands& here) HWY_ATTR {
    std::int32_t index;
    std::memcpy(&index, here.read(2), sizeof index);
    if (index >= 0 && index < P.extent)
      copy_row<P.length>(here.read(1) + index * P.stride, here.write());
    else
      std::fill_n(here.write(), P.length, 0.0f);
  });
}

template <rotate_plan P>
struct rotation {
  static constexpr int lanes = lanes_of<lanes_for<P.pairs>>;

  // Pairs [i, i + count) of a row.
  template <int count, int vector_lanes = lanes>
  HWY_INLINE static void rotate_pairs(const operands& row, std::ptrdiff_t i) {
    using D = hn::CappedTag<float, vector_lanes>;
    using V = hn::Vec<D>;
    const D d;
    const V cosine = load<D, count>(row.read(2) + i);
    const V sine = load<D, count>(row.read(3) + i);
    V a, b;
    if constexpr (P.partner == 1) {
      kernels::HWY_NAMESPACE::load_pairs(d, row.read(1) + 2 * i, a, b);
    } else {
      a = load<D, count>(row.read(1) + i);
      b = load<D, count>(row.read(1) + P.partner + i);
    }
    const V first = hn::NegMulAdd(b, sine, hn::Mul(a, cosine));
    const V second = hn::MulAdd(a, sine, hn::Mul(b, cosine));
    if constexpr (P.partner == 1) {
      kernels::HWY_NAMESPACE::store_pairs(first, second, d, row.write() + 2 * i);
    } else {
      store<D, count>(first, row.write() + i);
      store<D, count>(second, row.write() + P.partner + i);
    }
  }

  HWY_INLINE static void rotate_pair(const operands& row, std::ptrdiff_t i) {
    const float cosine = row.read(2)[i], sine = row.read(3)[i];
    const float a = row.read(1)[2 * i], b = row.read(1)[2 * i + 1];
    row.write()[2 * i] = kernels::HWY_NAMESPACE::negated_multiply_add(b, sine, a * cosine);
    row.write()[2 * i + 1] = kernels::HWY_NAMESPACE::multiply_add(a, sine, b * cosine);
  }

  // Remainder of fewer than 2n interleaved pairs, from pair i on, by shorter vectors.
  template <int n>
  HWY_INLINE static void rotate_tail(const operands& row, std::ptrdiff_t i) {
    if constexpr (n < 4) {
      for (; i < P.pairs; ++i) rotate_pair(row, i);
    } else if constexpr (P.pairs % (2 * n) < n) {
      rotate_tail<n / 2>(row, i);
    } else {
      rotate_pairs<n, n>(row, i);
      rotate_tail<n / 2>(row, i + n);
    }
  }

  HWY_INLINE void operator()(const operands& row) const {
    constexpr int tail = static_cast<int>(P.pairs % lanes);
    for (std::ptrdiff_t i = 0; i + lanes <= P.pairs; i += lanes) rotate_pairs<lanes>(row, i);
    if constexpr (P.partner == 1)
      rotate_tail<lanes / 2>(row, P.pairs - tail);
    else if constexpr (tail != 0)
      rotate_pairs<tail>(row, P.pairs - tail);
    std::copy_n(row.read(1) + 2 * P.pairs, P.elements - 2 * P.pairs, row.write() + 2 * P.pairs);
  }
};

template <rotate_plan P>
void rotate(const kernels::call& c) noexcept {
  for_each<P.rows>(operands_of<4>(c), rotation<P>());
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
