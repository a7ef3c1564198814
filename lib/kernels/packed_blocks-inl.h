// Packed weights in blocks that share scales, as vectors of floats: an overload of decode for each
// layout of formats.hpp. A vector has the elements of a tile's lines at one place of the depth.
#if defined(WEFT_KERNELS_PACKED_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#undef WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#else
#define WEFT_KERNELS_PACKED_BLOCKS_INL_H_
#endif

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

// By integers, as targets convert NaN and subnormals in several ways.
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
    const lines_of_blocks of{tile, width, line + further};
    const auto bits = hn::Or(of.byte(i), hn::ShiftLeft<8>(of.byte(i + 1)));
    return from_float16(D(), hn::BitCast(hn::RebindToUnsigned<D>(), bits));
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

// Each calls to(i, v, j, w), with the i-th elements v of these blocks and the j-th, w, for all
// pairs of i and j in a fixed order. As all products are exact, fused sums are those of the
// formats.
template <class D, class F>
HWY_INLINE void decode(const detail::format<stored_type::q8_0>&, const lines_of_blocks<D>& of,
                       F to) {
  const auto scale = of.half(0);
  for (std::size_t i = 0; i < 32; i += 2)
    to(i, hn::Mul(scale, of.signed_byte(2 + i)), i + 1, hn::Mul(scale, of.signed_byte(3 + i)));
}

template <bool Minimum, bool FifthBit, class D, class F>
HWY_INLINE void decode(const detail::small_block<Minimum, FifthBit>&, const lines_of_blocks<D>& of,
                       F to) {
  const D d;
  constexpr std::size_t high = 2 + 2 * Minimum, low = high + 4 * FifthBit;
  const auto scale = of.half(0);
  const auto least = Minimum ? of.half(2) : hn::Mul(scale, hn::Set(d, FifthBit ? -16.0f : -8.0f));
  for (std::size_t i = 0; i < 16; i += 8) {
    auto fifth = hn::Zero(hn::RebindToSigned<D>()), fifth_of_others = fifth;
    if constexpr (FifthBit) {
      fifth = hn::ShiftLeft<4>(of.byte(high + i / 8));
      fifth_of_others = hn::ShiftLeft<4>(of.byte(high + 2 + i / 8));
    }
    for (std::size_t j = i; j < i + 8; ++j) {
      const auto pair = of.byte(low + j);
      auto q = masked(pair, 15), other = hn::ShiftRight<4>(pair);
      if constexpr (FifthBit) {
        q = hn::Or(q, masked(fifth, 16)), other = hn::Or(other, masked(fifth_of_others, 16));
        fifth = hn::ShiftRight<1>(fifth), fifth_of_others = hn::ShiftRight<1>(fifth_of_others);
      }
      to(j, hn::MulAdd(scale, hn::ConvertTo(d, q), least),  //
         j + 16, hn::MulAdd(scale, hn::ConvertTo(d, other), least));
    }
  }
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
  for (std::size_t i = 0; i < 16; ++i) {
    const auto pair = of.byte(ScaleBytes + i);
    to(i, hn::Mul(scale, from_table(d, format.numbers, masked(pair, 15))),  //
       i + 16, hn::Mul(scale, from_table(d, format.numbers, hn::ShiftRight<4>(pair))));
  }
}

template <bool FifthBit, class D, class F>
HWY_INLINE void decode(const detail::grouped_block<FifthBit>&, const lines_of_blocks<D>& of, F to) {
  const D d;
  constexpr std::size_t six = 4, high = 16, low = high + 32 * FifthBit;
  const auto scale = of.half(0), minimum = of.half(2);
  for (std::size_t g = 0; g < 8; g += 2) {
    hn::Vec<D> scales[2], off[2];
    for (std::size_t n = 0; n < 2; ++n) {
      const std::size_t at = six + (g + n) % 4;
      auto s = masked(of.byte(at), 63), m = masked(of.byte(at + 4), 63);
      if (g >= 4) {
        const auto four = of.byte(at + 8);
        s = hn::Or(masked(four, 15), hn::ShiftLeft<4>(hn::ShiftRight<6>(of.byte(at))));
        m = hn::Or(hn::ShiftRight<4>(four), hn::ShiftLeft<4>(hn::ShiftRight<6>(of.byte(at + 4))));
      }
      scales[n] = hn::Mul(scale, hn::ConvertTo(d, s));
      off[n] = hn::Mul(minimum, hn::ConvertTo(d, m));
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const auto pair = of.byte(low + g * 16 + i);
      auto q = masked(pair, 15), other = hn::ShiftRight<4>(pair);
      if constexpr (FifthBit) {
        const auto bits = hn::ShiftRightSame(of.byte(high + i), static_cast<int>(g));
        q = hn::Or(q, hn::ShiftLeft<4>(masked(bits, 1)));
        other = hn::Or(other, hn::ShiftLeft<3>(masked(bits, 2)));
      }
      to(g * 32 + i, hn::MulSub(scales[0], hn::ConvertTo(d, q), off[0]),  //
         g * 32 + 32 + i, hn::MulSub(scales[1], hn::ConvertTo(d, other), off[1]));
    }
  }
}

template <class D, class F>
HWY_INLINE void decode(const detail::format<stored_type::q6_k>&, const lines_of_blocks<D>& of,
                       F to) {
  const D d;
  const auto scale = of.half(208);
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t group = 0; group < 2; ++group) {
      const auto scale_of = [&](std::size_t n) HWY_ATTR {
        return hn::Mul(scale, of.signed_byte(192 + half * 8 + n * 2 + group));
      };
      const auto s0 = scale_of(0), s1 = scale_of(1), s2 = scale_of(2), s3 = scale_of(3);
      const auto number = [&](auto low, auto high, auto s) HWY_ATTR {
        const auto q = hn::ConvertTo(d, hn::Or(low, masked(high, 48)));
        return hn::Mul(s, hn::Sub(q, hn::Set(d, 32.0f)));
      };
      for (std::size_t i = group * 16; i < group * 16 + 16; ++i) {
        const auto a = of.byte(half * 64 + i), b = of.byte(half * 64 + 32 + i);
        const auto high = of.byte(128 + half * 32 + i);
        const std::size_t e = half * 128 + i;
        to(e, number(masked(a, 15), hn::ShiftLeft<4>(high), s0),  //
           e + 32, number(masked(b, 15), hn::ShiftLeft<2>(high), s1));
        to(e + 64, number(hn::ShiftRight<4>(a), high, s2),  //
           e + 96, number(hn::ShiftRight<4>(b), hn::ShiftRight<2>(high), s3));
      }
    }
}

// A few rows times the lines of a tile, whose blocks begin at `tile`: row r's sums over the depth,
// of full blocks, are added to those from sums + r * max_amx_columns on.
template <class D, class Format, std::size_t... R>
HWY_NOINLINE void add_products(D d, Format format, std::index_sequence<R...>,
                               const float* const* rows, const std::uint8_t* tile,
                               std::size_t width, std::size_t depth, float* sums) {
  const std::size_t bytes = width * Format::bytes;
  const float* row[]{rows[R]...};
  for (; depth != 0; depth -= Format::block, tile += bytes) {
    // The blocks at the prefetch distance, a part with each pair of the first vector.
    const std::uint8_t* ahead = tile + prefetch_distance;
    std::size_t step = bytes / (Format::block / 2);
    for (std::size_t line = 0; line < width; line += hn::Lanes(d), step = 0) {
      float* const to = sums + line;
      hn::Vec<D> sum[]{hn::LoadU(d, to + R * max_amx_columns)...},
          other[]{(static_cast<void>(R), hn::Zero(d))...};
      decode(
          format, lines_of_blocks<D>{tile, width, line},
          [&](std::size_t i, auto v, std::size_t j, auto w) HWY_ATTR
          __attribute__((always_inline)) {
            hwy::Prefetch(ahead);
            ahead += step;
            ((sum[R] = hn::MulAdd(hn::Set(d, row[R][i]), v, sum[R])), ...);
            ((other[R] = hn::MulAdd(hn::Set(d, row[R][j]), w, other[R])), ...);
          });
      (hn::StoreU(hn::Add(sum[R], other[R]), d, to + R * max_amx_columns), ...);
    }
    ((row[R] += Format::block), ...);
  }
}

template <class D>
HWY_NOINLINE void add_products(D d, stored_type type, std::size_t count, const float* const* rows,
                               const std::uint8_t* tile, std::size_t width, std::size_t depth,
                               float* sums) {
  detail::with_format(type, [&]<class Format>(Format format) {
    if constexpr (detail::shares_scales<Format>) {
      const auto add = [&](auto r) { add_products(d, format, r, rows, tile, width, depth, sums); };
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
                 [=](std::size_t i, auto v, std::size_t j, auto w) HWY_ATTR {
                   if (k + i < depth) hn::StoreU(v, d, to + (k + i) * width + line);
                   if (k + j < depth) hn::StoreU(w, d, to + (k + j) * width + line);
                 });
    }
  });
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
