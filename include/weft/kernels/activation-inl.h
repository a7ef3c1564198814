// The activation functions of float vectors, as elementwise operations and as epilogues of
// contractions. All but the first two also take bundles of vectors.
#if defined(WEFT_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ACTIVATION_INL_H_
#undef WEFT_KERNELS_ACTIVATION_INL_H_
#else
#define WEFT_KERNELS_ACTIVATION_INL_H_
#endif

#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::activation {

namespace hn = hwy::HWY_NAMESPACE;

struct identity {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return x;
  }
};

struct relu {  // propagates NaN
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return math::at_least(hn::Zero(d), x);
  }
};

struct gelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return math::gelu(d, x);
  }
};

struct gelu_tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return math::gelu_tanh(d, x);
  }
};

struct tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return math::tanh(d, x);
  }
};

struct sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return math::sigmoid(d, x);
  }
};

}  // namespace weft::kernels::HWY_NAMESPACE::activation
HWY_AFTER_NAMESPACE();

#endif
