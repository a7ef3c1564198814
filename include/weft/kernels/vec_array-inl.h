// Vectors in registers: a constant number of them, whose operations are independent (in flight
// together), and reductions along lanes.
//
// Within a family of targets, those with fused multiply-add and those without, results have the
// same bits. So sums along lanes go over blocks of sum_lanes elements: a vector of AVX-512, two of
// AVX2, four of NEON. Element i of a row is always added to lane i % sum_lanes, and the lanes are
// added in one order: the lower half of a block and its upper half, down to one lane.
#if defined(WEFT_KERNELS_VEC_ARRAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_VEC_ARRAY_INL_H_
#undef WEFT_KERNELS_VEC_ARRAY_INL_H_
#else
#define WEFT_KERNELS_VEC_ARRAY_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

constexpr std::size_t sum_lanes =
    HWY_NATIVE_FMA ? 16 : std::max<std::size_t>(hn::MaxLanes(hn::ScalableTag<float>()), 4);

// The vectors of a block of floats.
constexpr int sum_vectors = static_cast<int>(sum_lanes / hn::MaxLanes(hn::ScalableTag<float>()));

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

// The reduction by f of all lanes, in each lane of a vector of at most four.
template <class D, class F>
HWY_INLINE auto reduce_lanes([[maybe_unused]] D d, hn::Vec<D> v, [[maybe_unused]] F f) {
#if HWY_TARGET == HWY_SCALAR
  return v;
#else
  static_assert(sizeof(hn::TFromD<D>) == 4);
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return reduce_lanes(half, f(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), f);
  } else {
    if constexpr (hn::MaxLanes(D()) == 4) v = f(v, hn::Shuffle1032(v));
    if constexpr (hn::MaxLanes(D()) >= 2) v = f(v, hn::Reverse2(d, v));
    return v;
  }
#endif
}
// The same of a block, or the part of it that a row has.
template <class D, int size, class F>
HWY_INLINE auto reduce_lanes(D d, const vec_array<D, size>& v, F f) {
  return reduce_lanes(d, combine_halves(v, f), f);
}

// The sums of the lanes of four vectors, in the order of reduce_lanes: a vector of four lanes, or
// of one, which is v0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sums_of_lanes([[maybe_unused]] D d, V v0, [[maybe_unused]] V v1,
                              [[maybe_unused]] V v2, [[maybe_unused]] V v3) {
#if HWY_TARGET == HWY_SCALAR
  return v0;
#else
  constexpr std::size_t lanes = hn::MaxLanes(D());
  static_assert(lanes >= 4);
  if constexpr (lanes == 4) {
    const hn::Repartition<std::uint64_t, D> pairs;
    const auto add_pairs = [=](V x, V y) HWY_ATTR {
      const auto outer = hn::OddEven(hn::BitCast(pairs, y), hn::BitCast(pairs, x));
      return hn::Add(hn::BitCast(d, outer), hn::CombineShiftRightBytes<8>(d, y, x));
    };
    const V v01 = add_pairs(v0, v1), v23 = add_pairs(v2, v3);
    return hn::Add(hn::ConcatEven(d, v23, v01), hn::ConcatOdd(d, v23, v01));
  } else {
    // The halves of x, and of y, added to each other.
    const auto add_halves = [=](V x, V y) HWY_ATTR {
      return hn::Add(hn::ConcatUpperLower(d, y, x), hn::ConcatLowerUpper(d, y, x));
    };
    const V v02 = add_halves(v0, v2), v13 = add_halves(v1, v3);
    const hn::CappedTag<float, 4> four;
    if constexpr (lanes == 8) {
      const hn::Repartition<std::uint64_t, D> pairs;
      const auto outer = hn::OddEven(hn::BitCast(pairs, v13), hn::BitCast(pairs, v02));
      const V sum = hn::Add(hn::BitCast(d, outer), hn::CombineShiftRightBytes<8>(d, v13, v02));
      const auto v01 = hn::LowerHalf(four, sum), v23 = hn::UpperHalf(four, sum);
      return hn::Add(hn::ConcatEven(four, v23, v01), hn::ConcatOdd(four, v23, v01));
    } else {
      static_assert(lanes == 16);
      V sum =
          hn::Add(hn::OddEvenBlocks(v13, v02), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(v02, v13)));
      sum = hn::Add(sum, hn::Shuffle1032(sum));
      sum = hn::Add(sum, hn::Reverse2(d, sum));
      alignas(64) static constexpr std::int32_t first_of_block[16] = {0, 4, 8, 12};
      return hn::LowerHalf(
          hn::LowerHalf(hn::TableLookupLanes(sum, hn::SetTableIndices(d, first_of_block))));
    }
  }
#endif
}

// The same as a scalar.
template <class D, class V, class F>
HWY_INLINE hn::TFromD<D> reduce_to_scalar(D d, const V& v, F f) {
  return hn::GetLane(reduce_lanes(d, v, f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
