// Polynomials of float vectors, and how their coefficients get into registers; bounds of vectors
// that propagate NaN, and rounding to integers.
#if defined(WEFT_KERNELS_MATH_POLYNOMIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MATH_POLYNOMIAL_INL_H_
#undef WEFT_KERNELS_MATH_POLYNOMIAL_INL_H_
#else
#define WEFT_KERNELS_MATH_POLYNOMIAL_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/vec_array-inl.h"

// A function of several vectors, for a single one.
#undef WEFT_OF_ONE_VECTOR
#define WEFT_OF_ONE_VECTOR(function)              \
  template <class D, class V>                     \
  HWY_INLINE V function(D d, V x) {               \
    return function(d, vec_array<D, 1>{x}).at[0]; \
  }

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE::math {

// A function's constants, each replicated in all lanes of a vector. Declare them `static
// constexpr`, so that they are in memory.
template <std::size_t n>
struct coefficients {
  static constexpr std::size_t size = n, lanes = hn::MaxLanes(hn::ScalableTag<float>());
  alignas(64) float lane[n * lanes];

  constexpr explicit coefficients(const float (&values)[n]) : lane{} {
    for (std::size_t i = 0; i < n * lanes; ++i) lane[i] = values[i / lanes];
  }
};

// Coefficient i of c0 + c1 x + c2 x^2 + … If all coefficients fit in registers they are literals,
// which are hoisted out of loops. Otherwise each is the memory operand of the instruction that uses
// it, as hoisted ones would be spilled; where several instructions use it, it is loaded once.
template <const auto& c, std::size_t i, bool in_registers, int readers, class D>
HWY_INLINE hn::Vec<D> coefficient(D d, [[maybe_unused]] const float* from) {
  if constexpr (in_registers) {
    constexpr float value = c.lane[i * c.lanes];
    return hn::Set(d, value);
  } else {
    const auto v = hn::Load(d, from + i * c.lanes);
    return readers == 1 ? v : opaque(v);
  }
}

// The address of constants, which the compiler cannot use before it has computed the last vector of
// x, or each, if there are several: with a known address, all of their loads may be hoisted out of
// a loop, and spilled.
template <bool in_registers, class D, int size>
HWY_INLINE const float* after_last([[maybe_unused]] const vec_array<D, size>& x,
                                   const float* address) {
  if constexpr (in_registers || size == 1) return address;
  return ordered_after(x.at[size - 1], address);
}
template <bool in_registers, class D, int size>
HWY_INLINE const float* after_each([[maybe_unused]] const vec_array<D, size>& x,
                                   const float* address) {
  if constexpr (in_registers || size == 1) return address;
  for (const auto& v : x.at) address = ordered_after(v, address);
  return address;
}

// Horner's scheme, each step for all vectors: the scheduler of a processor holds about as many
// waiting instructions as half a dozen vectors have. The load of each coefficient is ordered after
// the step before it: clang 14 would compute one vector after the other, with all coefficients
// live, which takes gelu 36 % longer.
template <const auto& c, bool in_registers, class D, int size, std::size_t... I>
HWY_INLINE vec_array<D, size> polynomial(D d, const vec_array<D, size>& x,
                                         std::index_sequence<I...>) {
  using V = hn::Vec<D>;
  constexpr std::size_t last = sizeof...(I);
  const float* from = after_last<in_registers>(x, in_registers ? nullptr : opaque(&c.lane[0]));
  const V highest = coefficient<c, last, in_registers, size>(d, from);
  auto sums = vec_array<D, size>::of([=](int) HWY_ATTR { return highest; });
  ((sums.zip(x, [next = coefficient<c, last - 1 - I, in_registers, size>(d, from)](V sum, V v)
                    HWY_ATTR { return hn::MulAdd(sum, v, next); }),
    from = after_last<in_registers>(sums, from)),
   ...);
  return sums;
}
template <const auto& c, bool in_registers = has_32_registers, class D, int size>
HWY_INLINE vec_array<D, size> polynomial(D d, const vec_array<D, size>& x) {
  return polynomial<c, in_registers>(d, x, std::make_index_sequence<c.size - 1>());
}
template <const auto& c, bool in_registers = has_32_registers, class D, class V>
HWY_INLINE V polynomial(D d, V x) {
  return polynomial<c, in_registers>(d, vec_array<D, 1>{x}).at[0];
}

// The same for an even number of coefficients, a pair at a time, with x2 for x^2 (Estrin's first
// step): half as long a dependency chain, for one multiplication more. The load of a coefficient is
// ordered after all vectors of the step before it.
template <const auto& c, bool in_registers, class D, int size, std::size_t... I>
HWY_INLINE vec_array<D, size> polynomial_estrin(D d, const vec_array<D, size>& x,
                                                const vec_array<D, size>& x2,
                                                std::index_sequence<I...>) {
  using V = hn::Vec<D>;
  constexpr std::size_t last = c.size - 1;
  const float* from = after_each<in_registers>(x2, in_registers ? nullptr : opaque(&c.lane[0]));
  vec_array<D, size> sums = x;
  sums.map([zeroth = coefficient<c, last - 1, in_registers, size>(d, from),
            first = coefficient<c, last, in_registers, size>(d, from)](V v)
               HWY_ATTR { return hn::MulAdd(v, first, zeroth); });
  from = after_each<in_registers>(sums, from);
  ((sums.zip(
        x2, x,
        [zeroth = coefficient<c, last - 3 - 2 * I, in_registers, size>(d, from),
         first = coefficient<c, last - 2 - 2 * I, in_registers, size>(d, from)](V sum, V v2, V v)
            HWY_ATTR { return hn::MulAdd(sum, v2, hn::MulAdd(v, first, zeroth)); }),
    from = after_each<in_registers>(sums, from)),
   ...);
  return sums;
}
template <const auto& c, bool in_registers = has_32_registers, class D, int size>
HWY_INLINE vec_array<D, size> polynomial_estrin(D d, const vec_array<D, size>& x,
                                                const vec_array<D, size>& x2) {
  static_assert(c.size % 2 == 0);
  return polynomial_estrin<c, in_registers>(d, x, x2, std::make_index_sequence<c.size / 2 - 1>());
}

// If an operand is NaN, the maximum and minimum instructions of x86 return the second one.
inline constexpr bool unordered_gives_second =
    HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// x, but not less than the bound. Propagates NaN.
template <class V>
HWY_INLINE V at_least(V bound, V x) {
  if constexpr (unordered_gives_second) return hn::Max(bound, x);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}
// x, but not more than the bound. Propagates NaN.
template <class V>
HWY_INLINE V at_most(V bound, V x) {
  if constexpr (unordered_gives_second) return hn::Min(bound, x);
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}

// The larger operand; NaN where either is NaN.
template <class V>
HWY_INLINE V maximum(V a, V b) {
  if constexpr (!hwy::IsFloat<hn::TFromV<V>>())
    return hn::Max(a, b);
  else if constexpr (unordered_gives_second)
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
  else
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

// The smaller operand; NaN where either is NaN.
template <class V>
HWY_INLINE V minimum(V a, V b) {
  if constexpr (!hwy::IsFloat<hn::TFromV<V>>())
    return hn::Min(a, b);
  else if constexpr (unordered_gives_second)
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
  else
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
}

// The integer n nearest to a * b, for |n| < 2^22, as 1.5 * 2^23 + n: that float has no bits for a
// fraction, and n in its low bits.
template <class D, class V>
HWY_INLINE V round_to_int_bits(D d, V a, V b) {
  return hn::MulAdd(a, b, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE V float_of_int_bits(D d, V int_bits) {
  return hn::Sub(int_bits, hn::Set(d, 0x1.8p23f));
}
template <class D, class V>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> int_of_int_bits(D d, V int_bits) {
  const hn::RebindToSigned<D> di;
  return hn::Sub(hn::BitCast(di, int_bits), hn::BitCast(di, hn::Set(d, 0x1.8p23f)));
}

}  // namespace weft::kernels::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();

#endif
