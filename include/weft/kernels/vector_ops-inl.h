// Elementwise operations on vectors: one functor an operation, which lib's loops, the epilogues of
// contractions and generated code share. An elementwise operation without one does not compile.
#if defined(WEFT_KERNELS_VECTOR_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VECTOR_OPS_INL_H_
#undef WEFT_KERNELS_VECTOR_OPS_INL_H_
#else
#define WEFT_KERNELS_VECTOR_OPS_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <limits>

#include "weft/graph/op_table.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Base classes of long-latency functions: of_vectors computes one vector after the other,
// of_vec_arrays several together. On targets with 16 registers, `unroll` vectors in flight hide the
// latency without spilling.
template <std::size_t vectors>
struct of_vectors {
  static constexpr std::size_t unroll = vectors;
};
struct of_vec_arrays {
  static constexpr std::size_t unroll = 4;
};

// f(d, v...) gives the operation's vector; d is the tag of the result's lanes. Functions
// of_vec_arrays take arrays of vectors as well.
template <op>
struct vector_op;

template <>
struct vector_op<op::copy> {
  HWY_INLINE auto operator()(auto, auto a) const { return a; }
};
template <>
struct vector_op<op::cast>;  // see lib/kernels/elementwise.cpp
template <>
struct vector_op<op::negate> {
  HWY_INLINE auto operator()(auto, auto a) const { return hn::Neg(a); }
};
template <>
struct vector_op<op::exp> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::exp(d, a); }
};
template <>
struct vector_op<op::expm1> : of_vectors<2> {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::expm1(d, a); }
};
template <>
struct vector_op<op::log> : of_vec_arrays {
  static constexpr std::size_t unroll = 2;  // its polynomial in pairs takes more registers
  HWY_INLINE auto operator()(auto d, auto a) const { return math::log(d, a); }
};
template <>
struct vector_op<op::log1p> : of_vectors<2> {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::log1p(d, a); }
};
template <>
struct vector_op<op::sqrt> {
  HWY_INLINE auto operator()(auto, auto a) const { return hn::Sqrt(a); }
};
template <>
struct vector_op<op::tanh> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::tanh(d, a); }
};
template <>
struct vector_op<op::erf> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::erf(d, a); }
};
template <>
struct vector_op<op::sin> {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::sin(d, a); }
};
template <>
struct vector_op<op::cos> {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::cos(d, a); }
};
template <>
struct vector_op<op::round> {  // with the sign of a zero, which Highway loses on some targets
  HWY_INLINE auto operator()(auto, auto a) const { return hn::CopySign(hn::Round(a), a); }
};
template <>
struct vector_op<op::sigmoid> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::sigmoid(d, a); }
};
template <>
struct vector_op<op::relu> {  // propagates NaN
  HWY_INLINE auto operator()(auto d, auto a) const { return math::at_least(hn::Zero(d), a); }
};
template <>
struct vector_op<op::gelu> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::gelu(d, a); }
};
template <>
struct vector_op<op::gelu_tanh> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto a) const { return math::gelu_tanh(d, a); }
};
template <>
struct vector_op<op::logical_not> {
  HWY_INLINE auto operator()(auto d, auto a) const { return hn::Xor(a, hn::Set(d, 1)); }
};

template <>
struct vector_op<op::add> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Add(a, b); }
};
template <>
struct vector_op<op::subtract> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Sub(a, b); }
};
template <>
struct vector_op<op::multiply> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Mul(a, b); }
};
template <>
struct vector_op<op::divide> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return quotient(a, b); }
};
template <>
struct vector_op<op::maximum> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return math::maximum(a, b); }
};
template <>
struct vector_op<op::minimum> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return math::minimum(a, b); }
};

// y log2(m 2^e) as the nearest integer and a fraction, for m from sqrt(1/2) to sqrt(2), each lane
// in double: in float the product's error would be that of the result times y log(x). With s = (m -
// 1)/(m + 1), log2(m) = 2/ln 2 (s + s³/3 + s⁵/5 + …), of which 2e-12 is left out.
template <class DD, class V>
HWY_INLINE V log2_times(DD d, V m, V e, V y) {
  const V one = hn::Set(d, 1.0), s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), s2 = hn::Mul(s, s);
  V sum = hn::Set(d, 1.0 / 13);
  sum = hn::MulAdd(sum, s2, hn::Set(d, 1.0 / 11));
  sum = hn::MulAdd(sum, s2, hn::Set(d, 1.0 / 9));
  sum = hn::MulAdd(sum, s2, hn::Set(d, 1.0 / 7));
  sum = hn::MulAdd(sum, s2, hn::Set(d, 1.0 / 5));
  sum = hn::MulAdd(sum, s2, hn::Set(d, 1.0 / 3));
  sum = hn::MulAdd(sum, s2, one);
  return hn::Mul(y, hn::MulAdd(hn::Mul(sum, s), hn::Set(d, 2.8853900817779268), e));
}
template <class D, class V>
HWY_INLINE void log2_times(D d, V m, V e, V y, V& integer, V& fraction) {
#if !HWY_HAVE_FLOAT64  // WebAssembly in Highway 1.0.3: lane by lane
  constexpr std::size_t lanes = hn::MaxLanes(D());
  alignas(64) float ms[lanes], es[lanes], ys[lanes];
  hn::Store(m, d, ms), hn::Store(e, d, es), hn::Store(y, d, ys);
  for (std::size_t i = 0; i < lanes; ++i) {
    const double m1 = static_cast<double>(ms[i]), s1 = (m1 - 1) / (m1 + 1), s2 = s1 * s1;
    double sum = 1.0 / 13;
    for (const int k : {11, 9, 7, 5, 3, 1}) sum = sum * s2 + 1.0 / k;
    const double log2_x = sum * s1 * 2.8853900817779268 + static_cast<double>(es[i]);
    const double product = static_cast<double>(ys[i]) * log2_x;
    const double t = product < -160 ? -160 : product > 160 ? 160 : product;  // NaN stays
    es[i] = static_cast<float>(std::nearbyint(t));
    ms[i] = static_cast<float>(t - std::nearbyint(t));
  }
  integer = hn::Load(d, es);
  fraction = hn::Load(d, ms);
#else
  // Beyond these bounds 2^t is 0 or infinity.
  const auto in_double = [](auto dd, auto mm, auto ee, auto yy, auto& near, auto& rest) HWY_ATTR {
    const auto t =
        hn::Max(hn::Set(dd, -160.0), hn::Min(hn::Set(dd, 160.0), log2_times(dd, mm, ee, yy)));
    near = hn::Round(t);
    rest = hn::Sub(t, near);
  };
  if constexpr (hn::MaxLanes(D()) == 1) {
    const hn::Rebind<double, D> dd;
    hn::Vec<decltype(dd)> near, rest;
    in_double(dd, hn::PromoteTo(dd, m), hn::PromoteTo(dd, e), hn::PromoteTo(dd, y), near, rest);
    integer = hn::DemoteTo(d, near);
    fraction = hn::DemoteTo(d, rest);
  } else {
#if HWY_TARGET != HWY_SCALAR  // which has no halves
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> dd;
    const auto low = [=](V v) HWY_ATTR { return hn::PromoteTo(dd, hn::LowerHalf(half, v)); };
    const auto high = [=](V v) HWY_ATTR { return hn::PromoteTo(dd, hn::UpperHalf(half, v)); };
    hn::Vec<decltype(dd)> near_low, near_high, rest_low, rest_high;
    in_double(dd, low(m), low(e), low(y), near_low, rest_low);
    in_double(dd, high(m), high(e), high(y), near_high, rest_high);
    integer = hn::Combine(d, hn::DemoteTo(half, near_high), hn::DemoteTo(half, near_low));
    fraction = hn::Combine(d, hn::DemoteTo(half, rest_high), hn::DemoteTo(half, rest_low));
#endif
  }
#endif
}
template <>
struct vector_op<op::pow> : of_vectors<1> {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y) const {
    const hn::RebindToSigned<D> di;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0f);
    const V inf = hn::Set(d, std::numeric_limits<float>::infinity());
    const V size = hn::Abs(x);
    // A subnormal x is scaled to a normal number.
    const auto subnormal = hn::Lt(size, hn::Set(d, 0x1p-126f));
    const V normal = hn::IfThenElse(subnormal, hn::Mul(size, hn::Set(d, 0x1p24f)), size);
    const auto bits = hn::BitCast(di, normal);
    const auto exponent =  // the bits subtracted are those of sqrt(1/2)
        hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));
    const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
    const V e =
        hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(subnormal, hn::Set(d, 24.0f)));
    V integer = zero, fraction = zero;
    log2_times(d, m, e, y, integer, fraction);
    // In two factors, since 2^n itself may be out of range.
    const auto n = hn::ConvertTo(di, integer), half_n = hn::ShiftRight<1>(n);
    V r = math::polynomial<math::exp2_to_6>(d, fraction);
    r = hn::Mul(hn::Mul(r, math::power_of_2(d, half_n)), math::power_of_2(d, hn::Sub(n, half_n)));

    const auto is_infinite = hn::Eq(size, inf), is_negative = hn::Lt(x, zero);
    const V of_zero = hn::IfThenElse(hn::Lt(y, zero), inf, zero);
    const V of_infinity = hn::IfThenElse(hn::Lt(y, zero), zero, inf);
    r = hn::IfThenElse(hn::Eq(x, zero), of_zero, hn::IfThenElse(is_infinite, of_infinity, r));
    r = hn::IfThenElse(hn::Eq(size, one), one, r);
    const V half_y = hn::Mul(y, hn::Set(d, 0.5f));
    const auto is_integer = hn::Eq(hn::Round(y), y), is_even = hn::Eq(hn::Round(half_y), half_y);
    r = hn::IfThenElse(hn::AndNot(is_even, is_integer), hn::CopySign(r, x), r);
    const auto has_no_power = hn::AndNot(hn::Or(is_integer, is_infinite), is_negative);
    const auto is_nan = hn::Or(unequal(x, x), unequal(y, y));
    const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    r = hn::IfThenElse(hn::Or(has_no_power, is_nan), nan, r);
    return hn::IfThenElse(hn::Or(hn::Eq(x, one), hn::Eq(y, zero)), one, r);
  }
};
template <>
struct vector_op<op::less> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Lt(a, b); }
};
template <>
struct vector_op<op::less_equal> {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>())
      return hn::Le(a, b);
    else
      return less_or_equal(a, b);
  }
};
template <>
struct vector_op<op::equal> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Eq(a, b); }
};
template <>
struct vector_op<op::not_equal> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return unequal(a, b); }
};
template <>
struct vector_op<op::logical_and> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::And(a, b); }
};
template <>
struct vector_op<op::logical_or> {
  HWY_INLINE auto operator()(auto, auto a, auto b) const { return hn::Or(a, b); }
};
template <>
struct vector_op<op::dropout>;
template <>
struct vector_op<op::relu_adjoint> {
  HWY_INLINE auto operator()(auto d, auto x, auto g) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), g);
  }
};
template <>
struct vector_op<op::gelu_adjoint> : of_vectors<2> {
  HWY_INLINE auto operator()(auto d, auto x, auto g) const {
    return hn::Mul(g, math::gelu_slope(d, x));
  }
};
template <class D, int n>
HWY_INLINE vec_array<D, n> product(vec_array<D, n> a, const vec_array<D, n>& b) {
  a.zip(b, [](hn::Vec<D> v, hn::Vec<D> w) HWY_ATTR { return hn::Mul(v, w); });
  return a;
}
template <class V>
HWY_INLINE V product(V a, V b) {
  return hn::Mul(a, b);
}
template <>
struct vector_op<op::gelu_tanh_adjoint> : of_vec_arrays {
  HWY_INLINE auto operator()(auto d, auto x, auto g) const {
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
concept has_vector_op = requires {
  sizeof(vector_op<K>);
};
constexpr bool every_elementwise_operation_has_a_vector_op() {
  constexpr auto exists = table_of_operations([]<op K>() -> bool {
    return !is_elementwise(K) || K == op::cast || K == op::dropout || has_vector_op<K>;
  });
  for (const bool here : exists.of)
    if (!here) return false;
  return true;
}
#if HWY_ONCE  // said once, not for each target
static_assert(every_elementwise_operation_has_a_vector_op(),
              "kernels: an elementwise operation has no vector_op in kernels/vector_ops-inl.h");
#endif

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
