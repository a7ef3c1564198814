// Vectors in registers: a constant number of them, whose operations are independent (in flight
// together), and reductions along lanes.
//
// Within a family of targets, those with fused multiply-add and those without, results have the
// same bits. So sums along lanes go over blocks of sum_lanes elements: a vector of AVX-512, two of
// AVX2, four of NEON. Element i of a row is always added to lane i % sum_lanes, and the lanes are
// added in one order: those of four lanes first, then the fours, each lower half and upper half.
#if defined(WEFT_KERNELS_VEC_ARRAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VEC_ARRAY_INL_H_
#undef WEFT_KERNELS_VEC_ARRAY_INL_H_
#else
#define WEFT_KERNELS_VEC_ARRAY_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

constexpr std::size_t sum_lanes =
    HWY_NATIVE_FMA ? 16 : std::max<std::size_t>(hn::MaxLanes(hn::ScalableTag<float>()), 4);

// The vectors of a block of floats.
constexpr int sum_vectors = static_cast<int>(sum_lanes / hn::MaxLanes(hn::ScalableTag<float>()));

// The reduction by f of the lanes of each four of v, in each of them.
template <class D, class F>
HWY_INLINE hn::Vec<D> reduce_fours([[maybe_unused]] D d, hn::Vec<D> v, [[maybe_unused]] F f) {
#if HWY_TARGET != HWY_SCALAR
  static_assert(sizeof(hn::TFromD<D>) == 4);
  if constexpr (hn::MaxLanes(D()) >= 4) v = f(v, hn::Shuffle1032(v));
  if constexpr (hn::MaxLanes(D()) >= 2) v = f(v, hn::Reverse2(d, v));
#endif
  return v;
}

// The reduction by f of the fours of v, in each four of a vector of at most eight lanes. Highway's
// sum and maximum for AVX-512 are broadcast to a full vector.
template <class D, class F>
HWY_INLINE auto combine_fours([[maybe_unused]] D d, hn::Vec<D> v, [[maybe_unused]] F f) {
#if HWY_TARGET == HWY_SCALAR
  return v;
#else
  if constexpr (hn::MaxLanes(D()) > 8) {
    const hn::Half<D> half;
    return combine_fours(half, f(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), f);
  } else if constexpr (hn::MaxLanes(D()) == 8) {
    return f(v, hn::ConcatLowerUpper(d, v, v));
  } else {
    return v;
  }
#endif
}

template <class D, int Size>
struct vec_array {
  using V = hn::Vec<D>;
  static constexpr int size = Size;

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

  // The same with constants as indices.
  template <class F>
  HWY_INLINE static vec_array of_constants(F f) {
    return of_each_constant(f, indices());
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
  HWY_INLINE static vec_array of_each_constant(F f, std::integer_sequence<int, J...>) {
    return {f(std::integral_constant<int, J>())...};
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

// f of vector j and that half of the vectors further on, down to one.
template <class D, int size, class F>
HWY_INLINE hn::Vec<D> combine_halves(const vec_array<D, size>& v, F f) {
  if constexpr (size == 1)
    return v.at[0];
  else
    return combine_halves(
        vec_array<D, size / 2>::of([&](int j) HWY_ATTR { return f(v.at[j], v.at[j + size / 2]); }),
        f);
}

// The reduction by f of all lanes of a block, or the part of it that a row has, in each lane of a
// vector of at most eight lanes.
template <class D, int size, class F>
HWY_INLINE auto reduce_lanes(D d, vec_array<D, size> v, F f) {
  v.map([=](hn::Vec<D> one) HWY_ATTR { return reduce_fours(d, one, f); });
  return combine_fours(d, combine_halves(v, f), f);
}
template <class D, class F>
HWY_INLINE auto reduce_lanes(D d, hn::Vec<D> v, F f) {
  return combine_fours(d, reduce_fours(d, v, f), f);
}

// The same as a scalar.
template <class D, class V, class F>
HWY_INLINE hn::TFromD<D> reduce_to_scalar(D d, const V& v, F f) {
  return hn::GetLane(reduce_lanes(d, v, f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
