// The activations of float vectors that a contraction ends with.
#if defined(WEFT_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ACTIVATION_INL_H_
#undef WEFT_KERNELS_ACTIVATION_INL_H_
#else
#define WEFT_KERNELS_ACTIVATION_INL_H_
#endif

#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::activation {

namespace hn = hwy::HWY_NAMESPACE;

struct identity {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return x;
  }
};

struct relu {  // NaN stays
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
};

struct gelu {  // x Phi(x), with the normal distribution function
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const auto half = hn::Set(d, 0.5f);
    const auto e = math::erf(d, hn::Mul(x, hn::Set(d, 0.707106781f)));
    return hn::Mul(x, hn::MulAdd(half, e, half));
  }
};

struct gelu_tanh {  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const auto half = hn::Set(d, 0.5f);
    const auto inner = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715f), hn::Mul(x, x)), x, x);
    const auto t = math::tanh(d, hn::Mul(hn::Set(d, 0.797884561f), inner));
    return hn::Mul(x, hn::MulAdd(half, t, half));
  }
};

struct tanh {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return math::tanh(d, x);
  }
};

struct sigmoid {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return math::sigmoid(d, x);
  }
};

}  // namespace weft::kernels::HWY_NAMESPACE::activation
HWY_AFTER_NAMESPACE();

#endif
