// Elementwise operations on vectors of floats, selected by op.
#if defined(WEFT_GENERATE_FUNCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_FUNCTION_INL_H_
#undef WEFT_GENERATE_FUNCTION_INL_H_
#else
#define WEFT_GENERATE_FUNCTION_INL_H_
#endif

#include "weft/generate/targets-inl.h"
#include "weft/graph/op.hpp"
#include "weft/kernels/activation-inl.h"
#include "weft/kernels/math-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <op Kind, class D>
HWY_INLINE hn::Vec<D> function(D d, hn::Vec<D> x) {
  namespace math = kernels::HWY_NAMESPACE::math;
  if constexpr (Kind == op::negate) return hn::Neg(x);
  if constexpr (Kind == op::exp) return math::exp(d, x);
  if constexpr (Kind == op::log) return math::log(d, x);
  if constexpr (Kind == op::sqrt) return hn::Sqrt(x);
  if constexpr (Kind == op::tanh) return math::tanh(d, x);
  if constexpr (Kind == op::erf) return math::erf(d, x);
  if constexpr (Kind == op::sin) return math::sin(d, x);
  if constexpr (Kind == op::cos) return math::cos(d, x);
  if constexpr (Kind == op::sigmoid) return math::sigmoid(d, x);
  if constexpr (Kind == op::relu) return kernels::HWY_NAMESPACE::activation::relu()(d, x);
  if constexpr (Kind == op::gelu) return math::gelu(d, x);
  if constexpr (Kind == op::gelu_tanh) return math::gelu_tanh(d, x);
  if constexpr (Kind == op::copy) return x;
}

template <op Kind, class D>
HWY_INLINE hn::Vec<D> function(D d, hn::Vec<D> a, hn::Vec<D> b) {
  namespace math = kernels::HWY_NAMESPACE::math;
  if constexpr (Kind == op::add) return hn::Add(a, b);
  if constexpr (Kind == op::subtract) return hn::Sub(a, b);
  if constexpr (Kind == op::multiply) return hn::Mul(a, b);
  if constexpr (Kind == op::divide) return kernels::HWY_NAMESPACE::quotient(a, b);
  if constexpr (Kind == op::maximum) return math::maximum(a, b);
  if constexpr (Kind == op::minimum) return math::minimum(a, b);
  // Adjoints of (x, g).
  if constexpr (Kind == op::relu_adjoint) return hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), b);
  if constexpr (Kind == op::gelu_adjoint) return hn::Mul(b, math::gelu_slope(d, a));
  if constexpr (Kind == op::gelu_tanh_adjoint) return hn::Mul(b, math::gelu_tanh_slope(d, a));
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
