// Small fusion groups of elementwise operations on floats, with constant extents and strides.
#if defined(WEFT_GENERATE_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ELEMENTWISE_INL_H_
#undef WEFT_GENERATE_ELEMENTWISE_INL_H_
#else
#define WEFT_GENERATE_ELEMENTWISE_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "weft/generate/elementwise_plan.hpp"
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

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
