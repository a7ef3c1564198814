// What the kernels need beyond the oldest supported Highway (1.0.3). Compiled once per SIMD target:
// include it after hwy/foreach_target.h and before HWY_BEFORE_NAMESPACE.
#if defined(WEFT_KERNELS_HWY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_HWY_INL_H_
#undef WEFT_KERNELS_HWY_INL_H_
#else
#define WEFT_KERNELS_HWY_INL_H_
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "weft: kernels and generated code need IEEE arithmetic; compile them with -fno-fast-math, as weft_add_model does"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hwy/base.h"
// What fails ends the program without Highway's library, which need not be linked.
#undef HWY_ABORT
#define HWY_ABORT(...) std::abort()
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Whether there are 32 vector registers, as in AVX-512 and 64-bit Arm, and not 16.
constexpr bool has_32_registers = HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX3 : HWY_ARCH_ARM_A64;

// Whether a masked load or store of T does not touch memory outside of the mask. On other targets
// Highway may load or store the full vector.
template <class T>
constexpr bool masks_memory() {
  if (HWY_TARGET == HWY_SCALAR) return false;
  return !HWY_MEM_OPS_MIGHT_FAULT || (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);
}

// a != b, true where either is NaN. Instead of hn::Ne, which no other file may call: Highway 1.0.3
// makes it an ordered comparison for floats on AVX2 and AVX-512, so that NaN equals everything
// there, and nothing on the other targets.
template <class V>
HWY_INLINE auto unequal(V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>())
    return hn::Not(hn::Eq(a, b));
  else
    return hn::Ne(a, b);
}

// The mask of the first n lanes. n <= Lanes(d), which saves the check of larger n that Highway has
// for AVX-512.
template <class D>
HWY_INLINE hn::Mask<D> first_n(D d, std::size_t n) {
  if (n > hn::MaxLanes(D())) __builtin_unreachable();
  return hn::FirstN(d, n);
}

#if HWY_TARGET == HWY_AVX2
// The first n of 8 bytes, from loads that may overlap: a vector load from a buffer that was just
// stored byte by byte would stall (no store-to-load forwarding).
template <class D>
HWY_INLINE hn::Vec<D> bytes_n(D d, const std::uint8_t* p, std::size_t n) {
  std::uint64_t bytes = 0;
  if (n >= 4) {
    std::uint32_t first, last;
    std::memcpy(&first, p, sizeof first);
    std::memcpy(&last, p + n - 4, sizeof last);
    bytes = first | std::uint64_t{last} << 8 * (n - 4);
  } else if (n > 0) {
    bytes = p[0] | std::uint64_t{p[n / 2]} << n / 2 * 8 | std::uint64_t{p[n - 1]} << 8 * (n - 1);
  }
  return hn::BitCast(d, hn::Set(hn::Repartition<std::uint64_t, D>(), bytes));
}
#endif

// The first n lanes from p, zeros in the others. 0 <= n <= Lanes(d); nothing is read past p + n.
// Newer versions of Highway have this as hn::LoadN.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_n(D d, const T* HWY_RESTRICT p, std::size_t n) {
  if constexpr (masks_memory<T>()) {
    return hn::MaskedLoad(first_n(d, n), d, p);
  } else if constexpr (HWY_TARGET == HWY_AVX2 && sizeof(T) == 1 && hn::MaxLanes(D()) == 8) {
    return bytes_n(d, p, n);
  } else {
    alignas(64) T lanes[hn::MaxLanes(D())]{};
    for (std::size_t i = 0; i < n; ++i) lanes[i] = p[i];
    return hn::Load(d, lanes);
  }
}

// The same, and all lanes where n is larger.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_up_to(D d, const T* HWY_RESTRICT p, std::size_t n) {
  if (n >= hn::Lanes(d)) return hn::LoadU(d, p);
  return load_n(d, p, n);
}

// The first n lanes of v to p. 0 <= n <= Lanes(d); nothing is written past p + n.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_n(hn::Vec<D> v, D d, T* HWY_RESTRICT p, std::size_t n) {
  if constexpr (masks_memory<T>()) {
    hn::BlendedStore(v, first_n(d, n), d, p);
  } else {
    alignas(64) T lanes[hn::MaxLanes(D())];
    hn::Store(v, d, lanes);
    for (std::size_t i = 0; i < n; ++i) p[i] = lanes[i];
  }
}

// The mask of lanes whose byte (one per lane) is not 0. AVX-512's masks have a bit per lane,
// however wide it is: newer versions of Highway have this as hn::PromoteMaskTo.
template <class D, class V>
HWY_INLINE hn::Mask<D> mask_of([[maybe_unused]] D d, V bytes) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::Mask<D>{unequal(bytes, hn::Zero(hn::DFromV<V>())).raw};
#else
  const hn::RebindToSigned<D> wide;
  return hn::RebindMask(d, hn::Gt(hn::PromoteTo(wide, bytes), hn::Zero(wide)));
#endif
}

// The inverse: a byte per lane, 1 where the mask is true and 0 elsewhere.
template <class D, class M>
HWY_INLINE hn::Vec<hn::Rebind<std::uint8_t, D>> bytes_of(D, M mask) {
  const hn::Rebind<std::uint8_t, D> bytes;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::IfThenElseZero(hn::Mask<decltype(bytes)>{mask.raw}, hn::Set(bytes, 1));
#else
  const hn::RebindToSigned<D> wide;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(wide, mask), hn::Set(wide, 1));
#if HWY_TARGET == HWY_AVX2  // by halves: DemoteTo would move data across them and back
  const hn::Half<decltype(wide)> half;
  const hn::Repartition<std::int16_t, decltype(half)> narrow;
  return hn::DemoteTo(
      bytes, hn::ReorderDemote2To(narrow, hn::LowerHalf(half, ones), hn::UpperHalf(half, ones)));
#else
  return hn::DemoteTo(bytes, ones);
#endif
#endif
}

// a / b, infinite or NaN where b is 0, for which hn::Div on EMU128 returns 0.
template <class V>
HWY_INLINE V quotient(V a, V b) {
#if HWY_TARGET == HWY_EMU128
  for (std::size_t i = 0; i < hn::Lanes(hn::DFromV<V>()); ++i) a.raw[i] /= b.raw[i];
  return a;
#else
  return hn::Div(a, b);
#endif
}

// a * b + c and c - a * b as vectors compute them: rounded once where the target's multiply-add is.
HWY_INLINE float multiply_add(float a, float b, float c) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}
HWY_INLINE float negated_multiply_add(float a, float b, float c) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(hn::NegMulAdd(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}

// a - b where the mask is true, a elsewhere: newer versions of Highway have this as
// hn::MaskedSubOr.
template <class M, class V>
HWY_INLINE V subtract_where(M mask, V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::IfThenElse(mask, hn::Sub(a, b), a);
#else
  return hn::Sub(a, hn::IfThenElseZero(mask, b));
#endif
}

// The mask of a <= b, for full vectors of int32: newer versions of Highway have this as hn::Le.
template <class V>
HWY_INLINE auto less_or_equal(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::Mask<hn::DFromV<V>>{_mm512_cmple_epi32_mask(a.raw, b.raw)};
#else
  return hn::Not(hn::Gt(a, b));
#endif
}

// Converts to int32: rounds toward zero, saturates; NaN gives 0. For AVX2 and AVX-512, Highway's
// saturation takes more instructions.
template <class D, class V>
HWY_INLINE hn::Vec<D> saturated(D d, V v) {
#if HWY_TARGET == HWY_AVX2 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
  const auto is_number = hn::RebindMask(d, hn::Eq(v, v));
  const auto too_large = hn::RebindMask(d, hn::Ge(v, hn::Set(hn::DFromV<V>(), 0x1p31f)));
  // Out of range, the instruction returns INT32_MIN, whose complement is INT32_MAX.
#if HWY_TARGET == HWY_AVX2
  const auto i = hn::IfThenElseZero(is_number, hn::Vec<D>{_mm256_cvttps_epi32(v.raw)});
  return hn::Xor(i, hn::VecFromMask(d, too_large));
#else
  const hn::Vec<D> i{_mm512_maskz_cvttps_epi32(is_number.raw, v.raw)};
  return hn::IfThenElse(too_large, hn::Set(d, 0x7FFFFFFF), i);
#endif
#else
  return hn::ConvertTo(d, hn::IfThenElseZero(hn::Eq(v, v), v));
#endif
}

// Optimization barrier that keeps v in a register: a compiler may else load it again for each use.
template <class V>
HWY_INLINE V opaque(V v) {
#if !HWY_COMPILER_MSVC && HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  asm("" : "+v"(v.raw));
#endif
  return v;
}

// The same for a pointer that a loop advances: a compiler may else keep the address of each row in
// a register of its own, and spill what finds none.
template <class T>
HWY_INLINE T* opaque(T* p) {
#if !HWY_COMPILER_MSVC
  asm("" : "+r"(p));
#endif
  return p;
}

// The same pointer, but the compiler cannot use it before it has computed v.
template <class T, class V>
HWY_INLINE T* ordered_after([[maybe_unused]] V v, T* p) {
#if !HWY_COMPILER_MSVC && HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  asm("" : "+r"(p) : "v"(v.raw));
#endif
  return p;
}

// Deinterleaves pairs in memory: the first elements to a, the second ones to b.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_pairs(D d, const float* from, V& a, V& b) {
#if HWY_TARGET == HWY_SCALAR
  hn::LoadInterleaved2(d, from, a, b);
#else
  const V lower = opaque(hn::LoadU(d, from));
  const V upper = opaque(hn::LoadU(d, from + hn::Lanes(d)));
  a = hn::ConcatEven(d, upper, lower);
  b = hn::ConcatOdd(d, upper, lower);
#endif
}

// Interleaves a and b in memory. For AVX-512 vectors, hn::StoreInterleaved2 takes six shuffles.
template <class D, class V>
HWY_INLINE void store_pairs(V a, V b, D d, float* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i upper =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    hn::StoreU(V{_mm512_permutex2var_ps(a.raw, lower, b.raw)}, d, to);
    hn::StoreU(V{_mm512_permutex2var_ps(a.raw, upper, b.raw)}, d, to + 16);
    return;
  }
#endif
  hn::StoreInterleaved2(a, b, d, to);
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// The even, or odd, elements of each 16-byte block of a, then of b's. hn::ConcatEven and
// hn::ConcatOdd also move them across blocks, for full vectors of more than one.
template <class V>
HWY_INLINE V even_by_block(V a, V b) {
#if HWY_TARGET == HWY_AVX2
  return V{_mm256_shuffle_ps(a.raw, b.raw, _MM_SHUFFLE(2, 0, 2, 0))};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return V{_mm512_shuffle_ps(a.raw, b.raw, _MM_SHUFFLE(2, 0, 2, 0))};
#else
  return hn::ConcatEven(hn::DFromV<V>(), b, a);
#endif
}
template <class V>
HWY_INLINE V odd_by_block(V a, V b) {
#if HWY_TARGET == HWY_AVX2
  return V{_mm256_shuffle_ps(a.raw, b.raw, _MM_SHUFFLE(3, 1, 3, 1))};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return V{_mm512_shuffle_ps(a.raw, b.raw, _MM_SHUFFLE(3, 1, 3, 1))};
#else
  return hn::ConcatOdd(hn::DFromV<V>(), b, a);
#endif
}
#endif

// load_pairs and store_pairs, except for the order of the pairs in a and b: AVX2 shuffles within
// 16-byte blocks. in_order permutes a vector from the order of the pairs in memory to that order,
// and back.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_pairs_by_block(D d, const float* from, V& a, V& b) {
#if HWY_TARGET == HWY_AVX2
  const V lower = hn::LoadU(d, from);
  const V upper = hn::LoadU(d, from + hn::Lanes(d));
  a = even_by_block(lower, upper);
  b = odd_by_block(lower, upper);
#else
  load_pairs(d, from, a, b);
#endif
}
template <class D, class V>
HWY_INLINE void store_pairs_by_block(V a, V b, D d, float* to) {
#if HWY_TARGET == HWY_AVX2
  hn::StoreU(V{_mm256_unpacklo_ps(a.raw, b.raw)}, d, to);
  hn::StoreU(V{_mm256_unpackhi_ps(a.raw, b.raw)}, d, to + hn::Lanes(d));
#else
  store_pairs(a, b, d, to);
#endif
}
template <class V>
HWY_INLINE V in_order(V v) {
#if HWY_TARGET == HWY_AVX2
  const auto halves = _mm256_castps_pd(v.raw);
  return V{_mm256_castpd_ps(_mm256_permute4x64_pd(halves, _MM_SHUFFLE(3, 1, 2, 0)))};
#else
  return v;
#endif
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Interleaves the even, or odd, 128-bit blocks of a and b, for vectors of two blocks or more. Newer
// versions of Highway have these as hn::InterleaveEvenBlocks and hn::InterleaveOddBlocks.
template <class D, class V>
HWY_INLINE V interleave_even_blocks(D d, V a, V b) {
  if constexpr (hn::MaxLanes(D()) == 8) {
    return hn::ConcatLowerLower(d, b, a);
  } else {
    return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
  }
}
template <class D, class V>
HWY_INLINE V interleave_odd_blocks(D d, V a, V b) {
  if constexpr (hn::MaxLanes(D()) == 8)
    return hn::ConcatUpperUpper(d, b, a);
  else
    return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
}
#endif

// Whether the target may have instructions for pairs of bfloat16: on x86-64 the processor has to be
// asked. There they are written in assembly, which serves every AVX-512 target: Highway has them
// from 1.2 on, for two targets, and compilers give them only to functions that are made for such a
// processor alone.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && !HWY_COMPILER_MSVC

constexpr bool may_multiply_pairs = true;

// In each float lane: sum + a0 * b0 + a1 * b1, where a and b have a pair of bfloat16 per lane.
// Subnormals (below 2^-126) are treated as zeros.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V dot_of_pairs(D, V a, V b, V sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}

// The nearest bfloat16 of the lanes of a, then of b's, ties to even; subnormals become zeros.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rounded_to_pairs(D, V a, V b) {
  V pairs;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(pairs.raw) : "v"(a.raw), "v"(b.raw));
  return pairs;
}

#elif HWY_NATIVE_DOT_BF16 && !HWY_ARCH_X86

constexpr bool may_multiply_pairs = true;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V dot_of_pairs(D d, V a, V b, V sum) {
  const hn::Repartition<hwy::bfloat16_t, D> pairs;
  V unused = hn::Zero(d);  // the native instruction needs no second accumulator
  return hn::ReorderWidenMulAccumulate(d, hn::BitCast(pairs, a), hn::BitCast(pairs, b), sum,
                                       unused);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rounded_to_pairs(D d, V a, V b) {
  return hn::BitCast(d, hn::OrderedDemote2To(hn::Repartition<hwy::bfloat16_t, D>(), a, b));
}

#else

constexpr bool may_multiply_pairs = false;

// Never called.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V dot_of_pairs(D, V, V, V sum) {
  return sum;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rounded_to_pairs(D, V a, V) {
  return a;
}

#endif

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
