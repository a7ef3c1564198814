// Products of int8: rows of the lhs, which are rounded, and packed weights, in blocks with scales.
// Those of a tile's lines at one place of the depth are the lines' scales, then the first four
// elements of each line, a quad, the next ones, and so on. A quad is loaded and stored as one
// float.
#if defined(WEFT_KERNELS_INT8_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_INT8_PRODUCTS_INL_H_
#undef WEFT_KERNELS_INT8_PRODUCTS_INL_H_
#else
#define WEFT_KERNELS_INT8_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/kernels/hwy-inl.h"
#include "weft/weights/int8.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

struct int8_block {
  static constexpr std::size_t depth = 32;
  float scale;
  std::int8_t element[depth];
};
// The same for AVX-512's VNNI, which multiplies unsigned bytes by signed ones: w + 128 by x. Sums
// begin with what is too much in them: -128 times the sum of the row's elements.
struct vnni_block : int8_block {};

// Rows of which blocks are quads of signed bytes, beside weights of 4 bits without sign: see
// fixed_rows-inl.h.
struct fixed_block : int8_block {};

constexpr bool may_use_vnni = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && !HWY_COMPILER_MSVC;

template <class T>
constexpr bool is_int8 = std::is_base_of_v<int8_block, T>;

// A block of a row that is rounded, in floats: its scale, what VNNI's sums begin with, its quads.
constexpr std::size_t floats_of_row_block = 2 + int8_block::depth / 4;

// Whether sums of products are of 16 bits, two in each lane, with room for eight quads whose
// weights have 4 bits, or four with 5, until move_short_sums adds them to sums of 32 bits.
// Otherwise it copies.
template <class T>
constexpr bool has_short_sums =
    std::is_same_v<T, fixed_block>&& HWY_ARCH_X86&& HWY_TARGET <= HWY_SSSE3 && !HWY_COMPILER_MSVC;

// In each lane: sum + the four products of the quads a, of the lhs, and b.
template <class T, class V>
HWY_INLINE V dot_of_quads(V a, V b, V sum) {
  [[maybe_unused]] const hn::DFromV<V> d;
  if constexpr (has_short_sums<T>) {
    // At once, as compilers would do all products before the sums, with too few registers.
    [[maybe_unused]] V products = b;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
        : "+v"(sum.raw), "=&v"(products.raw)
        : "v"(b.raw), "v"(a.raw));
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
    asm("pmaddubsw %2, %1\n\tpaddw %1, %0" : "+x"(sum.raw), "+x"(products.raw) : "x"(a.raw));
#endif
    return sum;
  } else if constexpr (std::is_same_v<T, vnni_block>) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && !HWY_COMPILER_MSVC
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "v"(a.raw));
#endif
    return sum;
  } else {
#if HWY_ARCH_ARM_A64
    const auto x = vreinterpretq_s8_f32(a.raw), y = vreinterpretq_s8_f32(b.raw);
    const auto before = vreinterpretq_s32_f32(sum.raw);
#if defined(__ARM_FEATURE_DOTPROD)
    return V(vreinterpretq_f32_s32(vdotq_s32(before, x, y)));
#else
    // Magnitudes are at most 127, so that two products fit 16 bits.
    const auto low = vmull_s8(vget_low_s8(x), vget_low_s8(y)), high = vmull_high_s8(x, y);
    return V(vreinterpretq_f32_s32(vpadalq_s16(before, vpaddq_s16(low, high))));
#endif
#elif (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128) || HWY_ARCH_WASM
    // Even elements, and odd ones, of 16 bits; on these targets neighbours are added.
    const hn::Repartition<std::int16_t, decltype(d)> half;
    const hn::RebindToSigned<decltype(d)> whole;
    const auto x = hn::BitCast(half, a), y = hn::BitCast(half, b);
    auto n = hn::BitCast(whole, sum), unused = hn::Zero(whole);
    n = hn::ReorderWidenMulAccumulate(whole, hn::ShiftRight<8>(hn::ShiftLeft<8>(x)),
                                      hn::ShiftRight<8>(hn::ShiftLeft<8>(y)), n, unused);
    n = hn::ReorderWidenMulAccumulate(whole, hn::ShiftRight<8>(x), hn::ShiftRight<8>(y), n, unused);
    return hn::BitCast(d, n);
#else
    const hn::RebindToSigned<decltype(d)> whole;
    const auto x = hn::BitCast(whole, a), y = hn::BitCast(whole, b);
    const auto product = [=](auto p, auto q) HWY_ATTR {
      return hn::Mul(hn::ShiftRight<24>(p), hn::ShiftRight<24>(q));
    };
    const auto first = hn::Add(product(hn::ShiftLeft<24>(x), hn::ShiftLeft<24>(y)),
                               product(hn::ShiftLeft<16>(x), hn::ShiftLeft<16>(y)));
    const auto last = hn::Add(product(hn::ShiftLeft<8>(x), hn::ShiftLeft<8>(y)), product(x, y));
    return hn::BitCast(d, hn::Add(hn::BitCast(whole, sum), hn::Add(first, last)));
#endif
  }
}

template <class T, class V>
HWY_INLINE void move_short_sums(V& sums, V& all) {
  if constexpr (has_short_sums<T>) {
    const hn::DFromV<V> d;
    const hn::Repartition<std::int16_t, decltype(d)> half;
    const hn::RebindToSigned<decltype(d)> whole;
    auto none = hn::Zero(whole);
    all = hn::BitCast(
        d, hn::ReorderWidenMulAccumulate(whole, hn::BitCast(half, sums), hn::Set(half, 1),
                                         hn::BitCast(whole, all), none));
    sums = hn::Zero(d);
  } else {
    all = sums;
  }
}

// The quads of weights as dot_of_quads takes them.
template <class T, class V>
HWY_INLINE V loaded_quads(V v) {
  const hn::RebindToUnsigned<hn::DFromV<V>> bits;
  if constexpr (std::is_same_v<T, vnni_block>)
    return hn::BitCast(hn::DFromV<V>(), hn::Xor(hn::BitCast(bits, v), hn::Set(bits, 0x80808080u)));
  else
    return v;
}

// What the sums of a block of a row begin with, and those sums as floats.
template <class T, class D>
HWY_INLINE hn::Vec<D> first_sums(D d, const float* row_block) {
  return std::is_same_v<T, vnni_block> ? hn::Set(d, row_block[1]) : hn::Zero(d);
}
template <class V>
HWY_INLINE V as_floats(V sums) {
  const hn::DFromV<V> d;
  return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<decltype(d)>(), sums));
}

// Rounds a line of contiguous floats to blocks, of which the last ends with zeros. One step after
// another for all of them, as those of a block wait for each other.
template <class D>
void round_line_to_blocks(D d, const float* HWY_RESTRICT line, std::size_t depth,
                          float* HWY_RESTRICT to) {
  constexpr std::size_t block = int8_block::depth;
  const hn::RebindToSigned<D> whole;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint8_t, D> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto magic = hn::Set(d, detail::int8_rounding::magic);
  alignas(64) float last[block]{};
  std::copy_n(line + depth / block * block, depth % block, last);
  const auto for_each_block = [=, &last](auto f) HWY_ATTR {
    float* of_block = to;
    for (std::size_t k = 0; k < depth; k += block, of_block += floats_of_row_block)
      f(depth - k < block ? last : line + k, of_block,
        reinterpret_cast<std::uint8_t*>(of_block + 2));
  };
  for_each_block([=](const float* from, float* of_block, std::uint8_t*) HWY_ATTR {
    auto most = hn::Zero(whole);
    for (std::size_t i = 0; i < block; i += lanes)
      most = hn::Max(most, hn::BitCast(whole, hn::Abs(hn::LoadU(d, from + i))));
    of_block[0] = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(whole, most)));
  });
  for_each_block([](const float*, float* of_block, std::uint8_t*) {
    const detail::int8_rounding rounding(std::bit_cast<std::uint32_t>(of_block[0]));
    of_block[0] = rounding.scale;
    of_block[1] = rounding.inverse;
  });
  for_each_block([=](const float* from, float* of_block, std::uint8_t* elements) HWY_ATTR {
    if (of_block[1] == 0) return static_cast<void>(std::memset(elements, 0, block));
    const auto inverse = hn::Set(d, of_block[1]);
    for (std::size_t i = 0; i < block; i += lanes) {
      const auto rounded = hn::Add(hn::Mul(hn::LoadU(d, from + i), inverse), magic);
      hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(bits, rounded)), bytes, elements + i);
    }
  });
  if constexpr (may_use_vnni) {
    const hn::CappedTag<std::uint8_t, block> all;
    for_each_block([=](const float*, float* of_block, const std::uint8_t* elements) HWY_ATTR {
      // Of the elements + 128, without sign.
      const auto sums = hn::SumsOf8(hn::Xor(hn::LoadU(all, elements), hn::Set(all, 0x80)));
      const auto sum = hn::GetLane(hn::SumOfLanes(hn::DFromV<decltype(sums)>(), sums));
      of_block[1] = std::bit_cast<float>(128 * (128 * 32 - static_cast<std::int32_t>(sum)));
    });
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
