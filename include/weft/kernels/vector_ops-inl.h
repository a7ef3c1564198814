// Elementwise operations on vectors: one functor an operation, which lib's loops, the epilogues of
// contractions and generated code share. An elementwise operation without one does not compile.
#if defined(WEFT_KERNELS_VECTOR_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VECTOR_OPS_INL_H_
#undef WEFT_KERNELS_VECTOR_OPS_INL_H_
#else
#define WEFT_KERNELS_VECTOR_OPS_INL_H_
#endif

#include <cstddef>

#include "weft/graph/ops.hpp"
#include "weft/kernels/bundle-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Base classes of long-latency functions: of_vectors computes one vector after the other,
// of_bundles several together. On targets with 16 registers, `enough` vectors in flight hide the
// latency without spilling.
template <std::size_t vectors>
struct of_vectors {
  static constexpr std::size_t enough = vectors;
};
struct of_bundles {
  static constexpr std::size_t enough = 4;
};

// f(d, v...) gives the operation's vector; d is the tag of the result's lanes. Functions of_bundles
// take bundles of vectors as well.
template <op>
struct vector_op;

template <>
struct vector_op<op::copy> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return a;
  }
};
template <>
struct vector_op<op::cast>;  // see lib/kernels/elementwise.cpp
template <>
struct vector_op<op::negate> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Neg(a);
  }
};
template <>
struct vector_op<op::exp> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::exp(d, a);
  }
};
template <>
struct vector_op<op::log> : of_bundles {
  static constexpr std::size_t enough = 2;  // its polynomial in pairs takes more registers
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::log(d, a);
  }
};
template <>
struct vector_op<op::sqrt> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a) const {
    return hn::Sqrt(a);
  }
};
template <>
struct vector_op<op::tanh> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::tanh(d, a);
  }
};
template <>
struct vector_op<op::erf> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::erf(d, a);
  }
};
// Sine and cosine are a sine shifted by 0 and 1 quadrants.
template <>
struct vector_op<op::sin> {
  static constexpr int quadrants = 0;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::sin(d, a);
  }
};
template <>
struct vector_op<op::cos> {
  static constexpr int quadrants = 1;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::cos(d, a);
  }
};
template <>
struct vector_op<op::sigmoid> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::sigmoid(d, a);
  }
};
template <>
struct vector_op<op::relu> {  // propagates NaN
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::at_least(hn::Zero(d), a);
  }
};
template <>
struct vector_op<op::gelu> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::gelu(d, a);
  }
};
template <>
struct vector_op<op::gelu_tanh> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return math::gelu_tanh(d, a);
  }
};
template <>
struct vector_op<op::logical_not> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    return hn::Xor(a, hn::Set(d, 1));
  }
};

template <>
struct vector_op<op::add> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
template <>
struct vector_op<op::subtract> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};
template <>
struct vector_op<op::multiply> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};
template <>
struct vector_op<op::divide> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return quotient(a, b);
  }
};
template <>
struct vector_op<op::maximum> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return math::maximum(a, b);
  }
};
template <>
struct vector_op<op::minimum> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return math::minimum(a, b);
  }
};
template <>
struct vector_op<op::less> {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    return hn::Lt(a, b);
  }
};
template <>
struct vector_op<op::less_equal> {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>())
      return hn::Le(a, b);
    else
      return not_greater(a, b);
  }
};
template <>
struct vector_op<op::equal> {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    return hn::Eq(a, b);
  }
};
template <>
struct vector_op<op::not_equal> {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    return unequal(a, b);
  }
};
template <>
struct vector_op<op::logical_and> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};
template <>
struct vector_op<op::logical_or> {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Or(a, b);
  }
};
template <>
struct vector_op<op::dropout>;
template <>
struct vector_op<op::relu_adjoint> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V g) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), g);
  }
};
template <>
struct vector_op<op::gelu_adjoint> : of_vectors<2> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V g) const {
    return hn::Mul(g, math::gelu_slope(d, x));
  }
};
template <class D, int n>
HWY_INLINE bundle<D, n> product(bundle<D, n> a, const bundle<D, n>& b) {
  a.zip(b, [](hn::Vec<D> v, hn::Vec<D> w) HWY_ATTR { return hn::Mul(v, w); });
  return a;
}
template <class V>
HWY_INLINE V product(V a, V b) {
  return hn::Mul(a, b);
}
template <>
struct vector_op<op::gelu_tanh_adjoint> : of_bundles {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V g) const {
    return product(g, math::gelu_tanh_slope(d, x));
  }
};
template <>
struct vector_op<op::where> {
  template <class D, class C, class V>
  HWY_INLINE V operator()(D, C condition, V a, V b) const {
    if constexpr (sizeof(hn::TFromV<V>) == 1)  // one comparison, unlike != 0
      return hn::IfThenElse(hn::Eq(condition, hn::Zero(hn::DFromV<C>())), b, a);
    else
      return hn::IfThenElse(mask_of(hn::DFromV<V>(), condition), a, b);
  }
};

template <op K>
constexpr bool has_vector_op() {
  if constexpr (is_elementwise(K) && K != op::cast && K != op::dropout)
    static_assert(
        requires { sizeof(vector_op<K>); },
        "kernels: an elementwise operation has no vector_op in kernels/vector_ops-inl.h");
  return true;
}
struct vector_op_exists {
  template <op K>
  constexpr bool operator()() const {
    return has_vector_op<K>();
  }
};
static_assert(table_of_operations(vector_op_exists())[op::input]);

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
