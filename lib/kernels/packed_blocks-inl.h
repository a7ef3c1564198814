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
    const auto bits =
        hn::Or(hn::PromoteTo(halves, hn::LoadU(bytes, from)),
               hn::ShiftLeft<8>(hn::PromoteTo(halves, hn::LoadU(bytes, from + width))));
    if constexpr (converts_float16)
      return hn::PromoteTo(D(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
    else
      return from_float16(D(), hn::PromoteTo(hn::RebindToUnsigned<D>(), bits));
  }
  // detail::half_of_exponent of byte i of each.
  HWY_INLINE hn::Vec<D> half_of_exponent(std::size_t i) const {
    const auto e = byte(i), one = hn::Set(ints(), 1);
    return hn::BitCast(
        D(), hn::IfThenElse(hn::Lt(e, hn::Set(ints(), 2)), hn::ShiftLeft<21>(hn::Add(e, one)),
                            hn::ShiftLeft<23>(hn::Sub(e, one))));
  }
};

// Numbers of a table, each by its place there.
template <class D>
HWY_INLINE hn::Vec<D> from_table(D d, const std::int8_t (&table)[16],
                                 hn::Vec<hn::RebindToSigned<D>> places) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<float>(table[hn::GetLane(places)]));
#else
  const hn::RebindToSigned<D> ints;
  const hn::Repartition<std::int8_t, D> bytes;
  const auto found = hn::TableLookupBytes(hn::LoadDup128(bytes, table), hn::BitCast(bytes, places));
  return hn::ConvertTo(d, hn::ShiftRight<24>(hn::ShiftLeft<24>(hn::BitCast(ints, found))));
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
  const auto scale = of.half(0);
  const auto off = Minimum ? of.half(2) : hn::Mul(scale, hn::Set(d, FifthBit ? -16.0f : -8.0f));
  // The fifth bits of the next elements, from bit 4 on.
  auto fifth = hn::Zero(hn::RebindToSigned<D>()), fifth_of_others = fifth;
  if constexpr (FifthBit) {
    const auto bits = [&](std::size_t i) HWY_ATTR {
      return hn::ShiftLeft<4>(hn::Or(of.byte(i), hn::ShiftLeft<8>(of.byte(i + 1))));
    };
    fifth = bits(high), fifth_of_others = bits(high + 2);
  }
  to(
      groups_of_block<D, 2>{0, 16, 16, {scale, scale}, {off, off}}, [&](std::size_t i, auto use)
                                                                        HWY_ATTR
      __attribute__((always_inline)) {
        const auto pair = of.byte(low + i);
        auto q = masked(pair, 15), other = hn::ShiftRight<4>(pair);
        if constexpr (FifthBit) {
          q = or_masked(q, fifth, 16), other = or_masked(other, fifth_of_others, 16);
          fifth = hn::ShiftRight<1>(fifth), fifth_of_others = hn::ShiftRight<1>(fifth_of_others);
        }
        use(hn::ConvertTo(d, q), hn::ConvertTo(d, other));
      });
}

template <std::size_t ScaleBytes, int... Number, class D, class F>
HWY_INLINE void decode(const detail::table_block<ScaleBytes, Number...>& format,
                       const lines_of_blocks<D>& of, F to) {
  const D d;
  const auto scale = [&]() HWY_ATTR {
    if constexpr (ScaleBytes == 2)
      return of.half(0);
    else
      return of.half_of_exponent(0);
  }();
  const auto zero = hn::Zero(d);
  to(
      groups_of_block<D, 2>{0, 16, 16, {scale, scale}, {zero, zero}}, [&](std::size_t i, auto use)
                                                                          HWY_ATTR
      __attribute__((always_inline)) {
        const auto pair = of.byte(ScaleBytes + i);
        use(from_table(d, format.numbers, masked(pair, 15)),
            from_table(d, format.numbers, hn::ShiftRight<4>(pair)));
      });
}

template <bool FifthBit, class D, class F>
HWY_INLINE void decode(const detail::grouped_block<FifthBit>&, const lines_of_blocks<D>& of, F to) {
  const D d;
  constexpr std::size_t six = 4, high = 16, low = high + 32 * FifthBit;
  const auto scale = of.half(0), minimum = hn::Neg(of.half(2));
  for (std::size_t g = 0; g < 8; g += 2) {
    groups_of_block<D, 2> both{g * 32, 32, 32, {}, {}};
    for (std::size_t n = 0; n < 2; ++n) {
      const std::size_t at = six + (g + n) % 4;
      auto s = masked(of.byte(at), 63), m = masked(of.byte(at + 4), 63);
      if (g >= 4) {
        const auto four = of.byte(at + 8);
        s = hn::Or(masked(four, 15), hn::ShiftLeft<4>(hn::ShiftRight<6>(of.byte(at))));
        m = hn::Or(hn::ShiftRight<4>(four), hn::ShiftLeft<4>(hn::ShiftRight<6>(of.byte(at + 4))));
      }
      both.scale[n] = hn::Mul(scale, hn::ConvertTo(d, s));
      both.off[n] = hn::Mul(minimum, hn::ConvertTo(d, m));
    }
    to(
        both, [&](std::size_t i, auto use) HWY_ATTR __attribute__((always_inline)) {
          const auto pair = of.byte(low + g * 16 + i);
          auto q = masked(pair, 15), other = hn::ShiftRight<4>(pair);
          if constexpr (FifthBit) {
            const auto bits = hn::ShiftLeft<3>(of.byte(high + i));
            const auto fifth = hn::ShiftRightSame(bits, static_cast<int>(g));
            q = or_masked(q, hn::Add(fifth, fifth), 16), other = or_masked(other, fifth, 16);
          }
          use(hn::ConvertTo(d, q), hn::ConvertTo(d, other));
        });
  }
}

template <class D, class F>
HWY_INLINE void decode(const detail::format<stored_type::q6_k>&, const lines_of_blocks<D>& of,
                       F to) {
  const D d;
  const auto scale = of.half(208);
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t group = 0; group < 2; ++group) {
      groups_of_block<D, 4> all{half * 128 + group * 16, 32, 16, {}, {}};
      for (std::size_t n = 0; n < 4; ++n) {
        all.scale[n] = hn::Mul(scale, of.signed_byte(192 + half * 8 + n * 2 + group));
        all.off[n] = hn::Mul(all.scale[n], hn::Set(d, -32.0f));
      }
      const auto number = [=](auto low, auto high)
                              HWY_ATTR { return hn::ConvertTo(d, or_masked(low, high, 48)); };
      to(
          all, [&](std::size_t e, auto use) HWY_ATTR __attribute__((always_inline)) {
            const std::size_t i = group * 16 + e;
            const auto a = of.byte(half * 64 + i), b = of.byte(half * 64 + 32 + i);
            const auto high = of.byte(128 + half * 32 + i);
            use(number(masked(a, 15), hn::ShiftLeft<4>(high)),
                number(masked(b, 15), hn::ShiftLeft<2>(high)), number(hn::ShiftRight<4>(a), high),
                number(hn::ShiftRight<4>(b), hn::ShiftRight<2>(high)));
          });
    }
}

// The sums of 16 elements of a row at a time; a group has one or two such.
constexpr std::size_t elements_of_sum = 16, sums_of_row = max_blocks.depth / elements_of_sum;
inline void sum_elements(const float* row, std::size_t depth, float* to) {
  for (; depth != 0; depth -= elements_of_sum, row += elements_of_sum) {
    float sum[4]{row[0], row[1], row[2], row[3]};
    for (std::size_t i = 4; i < elements_of_sum; i += 4)
      for (std::size_t j = 0; j < 4; ++j) sum[j] += row[i + j];
    *to++ = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

// Some rows' products with a vector of lines, over a block. What a group's elements share is
// multiplied with their sums: the scale with that of the products, `off` with that of the row.
template <class D, std::size_t Rows>
struct block_products {
  const float* row[Rows];  // the elements that the block is multiplied with
  const float* sums_of_elements;
  const std::uint8_t* ahead;  // the part to prefetch, a step further with each pair of elements
  std::size_t step;
  hn::Vec<D> sum[Rows];

  template <std::size_t Groups, class F>
  HWY_INLINE void operator()(const groups_of_block<D, Groups>& g, F element) {
    add(std::make_index_sequence<Rows * Groups>(), g, element);
  }

 private:
  template <std::size_t... I, std::size_t Groups, class F>
  HWY_INLINE void add(std::index_sequence<I...>, const groups_of_block<D, Groups>& g, F element) {
    const D d;
    hn::Vec<D> even[]{(static_cast<void>(I), hn::Zero(d))...};
    hn::Vec<D> odd[]{(static_cast<void>(I), hn::Zero(d))...};
    const auto add_to = [&](auto& sums, std::size_t i) HWY_ATTR __attribute__((always_inline)) {
      element(
          i, [&](auto... q) HWY_ATTR __attribute__((always_inline)) {
            hwy::Prefetch(ahead);
            ahead += Groups / 2 * step;
            const hn::Vec<D> of_group[]{q...};
            ((sums[I] = hn::MulAdd(hn::Set(d, row[I / Groups][g.at + I % Groups * g.next + i]),
                                   of_group[I % Groups], sums[I])),
             ...);
          });
    };
    // A single row would wait for each product before the next one.
    for (std::size_t i = 0; i < g.count; i += 2) {
      add_to(even, i);
      if constexpr (Rows <= 2)
        add_to(odd, i + 1);
      else
        add_to(even, i + 1);
    }
    const auto sum_of = [&](std::size_t r, std::size_t at) HWY_ATTR {
      const float* const sums = sums_of_elements + r * sums_of_row + at / elements_of_sum;
      return hn::Set(d, g.count == elements_of_sum ? sums[0] : sums[0] + sums[1]);
    };
    ((sum[I / Groups] = hn::MulAdd(
          g.off[I % Groups], sum_of(I / Groups, g.at + I % Groups * g.next), sum[I / Groups])),
     ...);
    ((sum[I / Groups] = hn::MulAdd(g.scale[I % Groups], hn::Add(even[I], odd[I]), sum[I / Groups])),
     ...);
  }
};

// A few rows times the lines of a tile, whose blocks begin at `tile`: row r's sums over the depth,
// of full blocks, are added to those from sums + r * max_amx_columns on.
template <class D, class Format, std::size_t... R>
HWY_NOINLINE void add_products(D d, Format format, std::index_sequence<R...>,
                               const float* const* rows, const float* sums_of_elements,
                               const std::uint8_t* tile, std::size_t width, std::size_t depth,
                               float* sums) {
  const std::size_t bytes = width * Format::bytes;
  const std::size_t step = 2 * hn::Lanes(d) * Format::bytes / Format::block;
  for (std::size_t k = 0; k < depth; k += Format::block, tile += bytes) {
    const std::uint8_t* ahead = tile + std::max(prefetch_distance, bytes);
    for (std::size_t line = 0; line < width; line += hn::Lanes(d)) {
      float* const to = sums + line;
      block_products<D, sizeof...(R)> products{{rows[R] + k...},
                                               sums_of_elements + k / elements_of_sum,
                                               ahead,
                                               step,
                                               {hn::LoadU(d, to + R * max_amx_columns)...}};
      decode(
          format, lines_of_blocks<D>{tile, width, line},
          [&](const auto&... of) HWY_ATTR __attribute__((always_inline)) { products(of...); });
      ahead = products.ahead;
      (hn::StoreU(products.sum[R], d, to + R * max_amx_columns), ...);
    }
  }
}

template <class D>
HWY_NOINLINE void add_products(D d, stored_type type, std::size_t count, const float* const* rows,
                               const float* sums_of_elements, const std::uint8_t* tile,
                               std::size_t width, std::size_t depth, float* sums) {
  detail::with_format(type, [&]<class Format>(Format format) {
    if constexpr (detail::shares_scales<Format>) {
      const auto add = [&](auto r) {
        add_products(d, format, r, rows, sums_of_elements, tile, width, depth, sums);
      };
      if (count == 1) return add(std::make_index_sequence<1>());
      if (count == 2) return add(std::make_index_sequence<2>());
      add(std::make_index_sequence<max_skinny_m>());
    }
  });
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
