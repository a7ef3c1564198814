// A constant number of vectors in registers, whose operations are independent (in flight together).
#if defined(WEFT_KERNELS_VEC_ARRAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VEC_ARRAY_INL_H_
#undef WEFT_KERNELS_VEC_ARRAY_INL_H_
#else
#define WEFT_KERNELS_VEC_ARRAY_INL_H_
#endif

#include <type_traits>
#include <utility>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

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
