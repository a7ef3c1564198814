// Vectors in registers: horizontal reductions of one, and a constant number of them, whose
// operations are independent (in flight together).
#if defined(WEFT_KERNELS_VEC_ARRAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VEC_ARRAY_INL_H_
#undef WEFT_KERNELS_VEC_ARRAY_INL_H_
#else
#define WEFT_KERNELS_VEC_ARRAY_INL_H_
#endif

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The reduction by f of all lanes of v, in each lane of a vector of at most eight lanes.
// Highway's sum and maximum for AVX-512 are broadcast to a full vector.
#if HWY_TARGET == HWY_SCALAR
template <class D, class F>
HWY_INLINE hn::Vec<D> reduce_lanes(D /*d*/, hn::Vec<D> v, F /*f*/) {
  return v;
}
#else
template <class D, class F>
HWY_INLINE auto reduce_lanes(D d, hn::Vec<D> v, F f) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  constexpr std::size_t lanes = hn::MaxLanes(D());
  if constexpr (lanes > 8) {
    const hn::Half<D> half;
    return reduce_lanes(half, f(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), f);
  } else {
    if constexpr (lanes == 8) v = f(v, hn::ConcatLowerUpper(d, v, v));
    if constexpr (lanes >= 4) v = f(v, hn::Shuffle1032(v));
    if constexpr (lanes >= 2) v = f(v, hn::Reverse2(d, v));
    return v;
  }
}
#endif

// The same as a scalar.
template <class D, class F>
HWY_INLINE hn::TFromD<D> reduce_to_scalar(D d, hn::Vec<D> v, F f) {
  return hn::GetLane(reduce_lanes(d, v, f));
}

template <class D, int size>
struct vec_array {
  using V = hn::Vec<D>;

  V at[size];

#if !HWY_ARCH_X86
  // Implicit constructors lack HWY_ATTR, without which those of NEON's vectors cannot be inlined.
  // Those of x86 can: with these, additions of short rows take half as long again on AVX-512.
  HWY_INLINE vec_array() {}
  template <class... W>
  requires(sizeof...(W) == size && (std::is_same_v<W, V> && ...)) HWY_INLINE vec_array(W... vectors)
      : at{vectors...} {}
#endif

  // The vectors f(j) for each index j.
  template <class F>
  HWY_INLINE static vec_array of(F f) {
    return of_each(f, indices());
  }

  // Each vector v becomes f(v), or f(v, j) with its index j.
  template <class F>
  HWY_INLINE void map(F f) {
    map_each(f, indices());
  }
  template <class F>
  HWY_INLINE void map_indexed(F f) {
    map_each_indexed(f, indices());
  }
  // Each vector v becomes f(v, w…), with the vectors of the same index of others.
  template <class F>
  HWY_INLINE void zip(const vec_array& other, F f) {
    zip_each(f, indices(), other);
  }
  template <class F>
  HWY_INLINE void zip(const vec_array& a, const vec_array& b, F f) {
    zip_each(f, indices(), a, b);
  }

  // The reduction of all vectors to one by f, as a balanced tree.
  template <int from = 0, int to = size, class F>
  HWY_INLINE V combine(F f) const {
    if constexpr (to - from == 1)
      return at[from];
    else
      return f(combine<from, (from + to) / 2>(f), combine<(from + to) / 2, to>(f));
  }

 private:
  using indices = std::make_integer_sequence<int, size>;
  template <class F, int... J>
  HWY_INLINE static vec_array of_each(F f, std::integer_sequence<int, J...>) {
    return {f(J)...};
  }
  template <class F, int... J>
  HWY_INLINE void map_each(F f, std::integer_sequence<int, J...>) {
    ((at[J] = f(at[J])), ...);
  }
  template <class F, int... J>
  HWY_INLINE void map_each_indexed(F f, std::integer_sequence<int, J...>) {
    ((at[J] = f(at[J], J)), ...);
  }
  template <class F, int... J>
  HWY_INLINE void zip_each(F f, std::integer_sequence<int, J...>, const vec_array& a) {
    ((at[J] = f(at[J], a.at[J])), ...);
  }
  template <class F, int... J>
  HWY_INLINE void zip_each(F f, std::integer_sequence<int, J...>, const vec_array& a,
                           const vec_array& b) {
    ((at[J] = f(at[J], a.at[J], b.at[J])), ...);
  }
};

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
