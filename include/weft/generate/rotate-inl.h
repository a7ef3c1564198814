// Small rotations of pairs with constant extents and strides.
#if defined(WEFT_GENERATE_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ROTATE_INL_H_
#undef WEFT_GENERATE_ROTATE_INL_H_
#else
#define WEFT_GENERATE_ROTATE_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "weft/generate/rotate_plan.hpp"
#include "weft/generate/vectors-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

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
    row.write()[2 * i] = a * cosine - b * sine;
    row.write()[2 * i + 1] = b * cosine + a * sine;
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
