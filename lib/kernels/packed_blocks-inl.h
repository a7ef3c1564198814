// Packed weights in blocks that share scales, as vectors of floats: an overload of decode for each
// layout of formats.hpp. A vector has the elements of a tile's lines at one place of the depth.
#if defined(WEFT_KERNELS_PACKED_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#undef WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#else
#define WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/amx.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/weights/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Prefetch distance in bytes for weights that are read once. Half of a page of 4 KiB and more
// measured slower.
constexpr std::size_t prefetch_distance = 1024;

// Whether an instruction converts float16, and subnormal ones too; NaN may become another NaN.
#if defined(HWY_DISABLE_F16C)
constexpr bool converts_float16 = HWY_ARCH_ARM_A64;
#else
constexpr bool converts_float16 = HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX2 : HWY_ARCH_ARM_A64;
#endif

// By integers, as other targets have no such instruction, or not for all numbers.
template <class D>
HWY_INLINE hn::Vec<D> from_float16(D d, hn::VFromD<hn::RebindToUnsigned<D>> half) {
  const hn::RebindToUnsigned<D> bits;
  const auto exponent = hn::And(half, hn::Set(bits, 0x7c00));
  const auto wide =
      hn::Add(hn::ShiftLeft<13>(hn::And(half, hn::Set(bits, 0x7fff))), hn::Set(bits, 112u << 23));
  // 2^-14 is added to subnormal ones, and subtracted; NaN and infinity have all exponent bits.
  const auto more = hn::BitCast(d, hn::Add(wide, hn::Set(bits, 1u << 23)));
  const auto small = hn::BitCast(bits, hn::Sub(more, hn::Set(d, 0x1p-14f)));
  const auto large = hn::Or(wide, hn::Set(bits, 0xffu << 23));
  const auto size =
      hn::IfThenElse(hn::Eq(exponent, hn::Zero(bits)), small,
                     hn::IfThenElse(hn::Eq(exponent, hn::Set(bits, 0x7c00)), large, wide));
  return hn::BitCast(d, hn::Or(size, hn::ShiftLeft<16>(hn::And(half, hn::Set(bits, 0x8000)))));
}

template <class D>
HWY_INLINE hn::Vec<D> from_bytes(D d, const std::int8_t* elements) {
  const auto bytes = hn::LoadU(hn::Rebind<std::int8_t, D>(), elements);
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), bytes));
}

// The words of a vector, from any bytes on.
template <class D>
HWY_INLINE hn::Vec<D> load_words(D d, const std::uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> word;
  std::memcpy(&word, from, sizeof word);
  return hn::Set(d, word);
#else
  return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));
#endif
}

struct q8_block {
  static constexpr std::size_t depth = 32;
  std::uint8_t bytes[2 + depth];
};

// The blocks of a vector of lines, of a tile of `width` lines, from line `line` on.
template <class D>
struct lines_of_blocks {
  using ints = hn::RebindToSigned<D>;
  const std::uint8_t* tile;
  std::size_t width, line;

  // Byte i of each.
  HWY_INLINE hn::Vec<ints> byte(std::size_t i) const {
    return hn::PromoteTo(ints(), hn::LoadU(hn::Rebind<std::uint8_t, D>(), tile + i * width + line));
  }
  // The same as a signed number.
  HWY_INLINE hn::Vec<D> signed_byte(std::size_t i) const {
    return from_bytes(D(), reinterpret_cast<const std::int8_t*>(tile + i * width + line));
  }
  // The float16 at byte i of each, or of those `further` lines on.
  HWY_INLINE hn::Vec<D> half(std::size_t i, std::size_t further = 0) const {
    const hn::Rebind<std::uint8_t, D> bytes;
    const hn::Rebind<std::uint16_t, D> halves;
    const std::uint8_t* const from = tile + i * width + line + further;
    return float16s(
        hn::Or(hn::PromoteTo(halves, hn::LoadU(bytes, from)),
               hn::ShiftLeft<8>(hn::PromoteTo(halves, hn::LoadU(bytes, from + width)))));
  }
  // Of blocks in quads: bytes i to i + 3 of each; byte i of the quads from byte `first` on, with
  // others above it; the float16 at byte i.
  HWY_INLINE hn::Vec<ints> quad(std::size_t i) const {
    return load_words(ints(), tile + i * width + 4 * line);
  }
  HWY_INLINE hn::Vec<ints> lowest(std::size_t first, std::size_t i) const {
    return hn::ShiftRightSame(quad(first + i / 4 * 4), static_cast<int>(8 * (i % 4)));
  }
  HWY_INLINE hn::Vec<D> whole_half(std::size_t i) const {
    const auto bits = load_words(hn::Rebind<std::uint16_t, D>(), tile + i * width + 2 * line);
    return float16s(bits);
  }
  // detail::half_of_exponent of byte i of each.
  HWY_INLINE hn::Vec<D> half_of_exponent(std::size_t i) const {
    const auto e = byte(i), one = hn::Set(ints(), 1);
    return hn::BitCast(
        D(), hn::IfThenElse(hn::Lt(e, hn::Set(ints(), 2)), hn::ShiftLeft<21>(hn::Add(e, one)),
                            hn::ShiftLeft<23>(hn::Sub(e, one))));
  }

 private:
  static HWY_INLINE hn::Vec<D> float16s(hn::Vec<hn::Rebind<std::uint16_t, D>> bits) {
    if constexpr (converts_float16)
      return hn::PromoteTo(D(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
    else
      return from_float16(D(), hn::PromoteTo(hn::RebindToUnsigned<D>(), bits));
  }
};

// Bytes of a table, each by its place there.
template <class V>
HWY_INLINE V from_table(const std::int8_t (&table)[16], V places) {
  const hn::DFromV<V> d;
#if HWY_TARGET == HWY_SCALAR
  std::int32_t found = 0;
  for (int i = 0; i < 32; i += 8) found |= (table[hn::GetLane(places) >> i & 15] & 255) << i;
  return hn::Set(d, found);
#else
  const hn::Repartition<std::int8_t, decltype(d)> bytes;
  return hn::BitCast(
      d, hn::TableLookupBytes(hn::LoadDup128(bytes, table), hn::BitCast(bytes, places)));
#endif
}

template <class V>
HWY_INLINE V masked(V v, int bits) {
  return hn::And(v, hn::Set(hn::DFromV<V>(), bits));
}
template <class V>
HWY_INLINE V or_masked(V to, V v, int bits) {
  return hn::OrAnd(to, v, hn::Set(hn::DFromV<V>(), bits));
}

// Groups of elements that share a scale: element e of group n is at + n * next + e of the block,
// and scale[n] * q + off[n], with the q that element(e, use) gives to use(q of group 0, ...). As
// scale * q is exact, a fused sum is that of the format.
template <class D, std::size_t Groups>
struct groups_of_block {
  std::size_t at, next, count;
  hn::Vec<D> scale[Groups], off[Groups];
};

// Each calls to(groups, element) for the groups that have elements in the same bytes, in a fixed
// order.
template <class D, class F>
HWY_INLINE void decode(const detail::format<stored_type::q8_0>&, const lines_of_blocks<D>& of,
                       F to) {
  const auto scale = of.half(0), zero = hn::Zero(D());
  to(
      groups_of_block<D, 2>{0, 16, 16, {scale, scale}, {zero, zero}}, [&](std::size_t i, auto use)
                                                                          HWY_ATTR
      __attribute__((always_inline)) { use(of.signed_byte(2 + i), of.signed_byte(18 + i)); });
}

template <bool Minimum, bool FifthBit, class D, class F>
HWY_INLINE void decode(const detail::small_block<Minimum, FifthBit>&, const lines_of_blocks<D>& of,
                       F to) {
  const D d;
  constexpr std::size_t high = 2 + 2 * Minimum, low = high + 4 * FifthBit;
  const auto scale = of.whole_half(0);
  const auto off =
      Minimum ? of.whole_half(2) : hn::Mul(scale, hn::Set(d, FifthBit ? -16.0f : -8.0f));
  // The fifth bits of the next elements, from bit 4 on.
  auto fifth = hn::Zero(hn::RebindToSigned<D>()), fifth_of_others = fifth;
  if constexpr (FifthBit)
    fifth = hn::ShiftLeft<4>(of.quad(high)), fifth_of_others = hn::ShiftRight<12>(of.quad(high));
  to(
      groups_of_block<D, 2>{0, 16, 16, {scale, scale}, {off, off}}, [&](std::size_t i, auto use)
                                                                        HWY_ATTR
      __attribute__((always_inline)) {
        const auto pair = of.lowest(low, i);
        auto q = masked(pair, 15), other = masked(hn::ShiftRight<4>(pair), 15);
        if constexpr (FifthBit) {
          q = or_masked(q, fifth, 16), other = or_masked(other, fifth_of_others, 16);
          fifth = hn::ShiftRight<1>(fifth), fifth_of_others = hn::ShiftRight<1>(fifth_of_others);
        }
        use(hn::ConvertTo(d, q), hn::ConvertTo(d, other));
      });
}

template <std::size_t ScaleBytes, int... Number, class D>
HWY_INLINE hn::Vec<D> scale_of(const detail::table_block<ScaleBytes, Number...>&,
                               const lines_of_blocks<D>& of) {
  if constexpr (ScaleBytes == 2)
    return of.whole_half(0);
  else
    return of.half_of_exponent(0);
}
template <std::size_t ScaleBytes, int... Number, class D, class F>
HWY_INLINE void decode(const detail::table_block<ScaleBytes, Number...>& format,
                       const lines_of_blocks<D>& of, F to) {
  const D d;
  const auto scale = scale_of(format, of), zero = hn::Zero(d);
  const auto number = [&](auto places) HWY_ATTR {
    const auto found = from_table(format.numbers, masked(places, 15));
    return hn::ConvertTo(d, hn::ShiftRight<24>(hn::ShiftLeft<24>(found)));
  };
  to(
      groups_of_block<D, 2>{0, 16, 16, {scale, scale}, {zero, zero}}, [&](std::size_t i, auto use)
                                                                          HWY_ATTR
      __attribute__((always_inline)) {
        const auto pair = of.lowest(ScaleBytes, i);
        use(number(pair), number(hn::ShiftRight<4>(pair)));
      });
}

// The g-th group's scale and minimum, of 6 bits each.
template <class D>
HWY_INLINE std::pair<hn::Vec<D>, hn::Vec<D>> scales_of_group(const lines_of_blocks<D>& of,
                                                             std::size_t g) {
  const D d;
  auto s = of.lowest(4, g % 4), m = of.lowest(8, g % 4);
  if (g < 4) return {hn::ConvertTo(d, masked(s, 63)), hn::ConvertTo(d, masked(m, 63))};
  const auto four = of.lowest(12, g % 4);
  return {
      hn::ConvertTo(d, or_masked(masked(four, 15), hn::ShiftRight<2>(s), 48)),
      hn::ConvertTo(d, or_masked(masked(hn::ShiftRight<4>(four), 15), hn::ShiftRight<2>(m), 48))};
}

template <bool FifthBit, class D, class F>
HWY_INLINE void decode(const detail::grouped_block<FifthBit>&, const lines_of_blocks<D>& of, F to) {
  const D d;
  constexpr std::size_t high = 16, low = high + 32 * FifthBit;
  const auto scale = of.whole_half(0), minimum = hn::Neg(of.whole_half(2));
  for (std::size_t g = 0; g < 8; g += 2) {
    groups_of_block<D, 2> both{g * 32, 32, 32, {}, {}};
    for (std::size_t n = 0; n < 2; ++n) {
      const auto [s, m] = scales_of_group(of, g + n);
      both.scale[n] = hn::Mul(scale, s), both.off[n] = hn::Mul(minimum, m);
    }
    to(
        both, [&](std::size_t i, auto use) HWY_ATTR __attribute__((always_inline)) {
          const auto pair = of.lowest(low + g * 16, i);
          auto q = masked(pair, 15), other = masked(hn::ShiftRight<4>(pair), 15);
          if constexpr (FifthBit) {
            const auto fifth =
                hn::ShiftRightSame(hn::ShiftLeft<3>(of.lowest(high, i)), static_cast<int>(g));
            q = or_masked(q, hn::Add(fifth, fifth), 16), other = or_masked(other, fifth, 16);
          }
          use(hn::ConvertTo(d, q), hn::ConvertTo(d, other));
        });
  }
}

// The scale of the n-th group of a block of Q6_K.
template <class D>
HWY_INLINE hn::Vec<D> scale_of_q6_k(const lines_of_blocks<D>& of, std::size_t n) {
  const auto bits = hn::ShiftLeft<24>(of.lowest(192, n));
  return hn::Mul(of.whole_half(208), hn::ConvertTo(D(), hn::ShiftRight<24>(bits)));
}

template <class D, class F>
HWY_INLINE void decode(const detail::format<stored_type::q6_k>&, const lines_of_blocks<D>& of,
                       F to) {
  const D d;
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t group = 0; group < 2; ++group) {
      groups_of_block<D, 4> all{half * 128 + group * 16, 32, 16, {}, {}};
      for (std::size_t n = 0; n < 4; ++n) {
        all.scale[n] = scale_of_q6_k(of, half * 8 + n * 2 + group);
        all.off[n] = hn::Mul(all.scale[n], hn::Set(d, -32.0f));
      }
      const auto number = [=](auto low, auto high) HWY_ATTR {
        return hn::ConvertTo(d, or_masked(masked(low, 15), high, 48));
      };
      to(
          all, [&](std::size_t e, auto use) HWY_ATTR __attribute__((always_inline)) {
            const std::size_t i = group * 16 + e;
            const auto a = of.lowest(half * 64, i), b = of.lowest(half * 64 + 32, i);
            const auto high = of.lowest(128 + half * 32, i);
            use(number(a, hn::ShiftLeft<4>(high)), number(b, hn::ShiftLeft<2>(high)),
                number(hn::ShiftRight<4>(a), high),
                number(hn::ShiftRight<4>(b), hn::ShiftRight<2>(high)));
          });
    }
}

// A tile's lines over the depth, as floats: at depth k, from to + k * width on.
template <class D>
HWY_NOINLINE void promote_blocks(D d, stored_type type, const std::uint8_t* tile, std::size_t width,
                                 std::size_t depth, float* to) {
  detail::with_format(type, [=]<class Format>(Format format) HWY_ATTR {
    if constexpr (detail::shares_scales<Format>) {
      const std::uint8_t* from = tile;
      for (std::size_t k = 0; k < depth; k += Format::block, from += width * Format::bytes)
        for (std::size_t line = 0; line < width; line += hn::Lanes(d))
          decode(format, lines_of_blocks<D>{from, width, line},
                 [=]<std::size_t N>(const groups_of_block<D, N>& g, auto element) HWY_ATTR {
                   for (std::size_t i = 0; i < g.count; ++i)
                     element(i, [&](auto... q) HWY_ATTR {
                       std::size_t n = 0, at = k + g.at + i;
                       const auto store = [&](auto v) HWY_ATTR {
                         if (at < depth)
                           hn::StoreU(hn::MulAdd(g.scale[n], v, g.off[n]), d,
                                      to + at * width + line);
                         ++n, at += g.next;
                       };
                       (store(q), ...);
                     });
                 });
    }
  });
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
