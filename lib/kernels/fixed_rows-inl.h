// Products of a few rows and packed weights that are small integers with scales. A block of a row
// is rounded to integers v of 23 bits, with a power of two as their scale, and each v is three
// signed bytes, v = b0 + 2^8 b1 + 2^16 b2. Their products with weights are exact: what is rounded
// is v, with an error of at most 2^-22 of the block's largest magnitude, and a few sums in float
// for each block.
#if defined(WEFT_KERNELS_FIXED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_FIXED_ROWS_INL_H_
#undef WEFT_KERNELS_FIXED_ROWS_INL_H_
#else
#define WEFT_KERNELS_FIXED_ROWS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/amx.hpp"
#include "kernels/int8_products-inl.h"
#include "kernels/packed_blocks-inl.h"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/weights/formats.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// A rounded block, in as many words as it has elements: the scales of b0, b1 and b2; three integers
// which, times these scales, add up to -8 times the sum of the elements; that sum, and that of the
// first half; the quads.
namespace in_fixed {
constexpr std::size_t scale = 0, middle = 3, sum = 6, quads = 8;
constexpr std::size_t floats = quads + 3 * 8;
}  // namespace in_fixed

constexpr float power_of_two(int n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(127 + n) << 23);
}

// Rounds a line of contiguous floats, of full blocks. One with NaN or infinity has scales that are
// NaN.
template <class D>
void round_line_to_fixed(D d, const float* HWY_RESTRICT line, std::size_t depth,
                         float* HWY_RESTRICT to) {
  constexpr std::size_t block = fixed_block::depth;
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<std::int8_t, D> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto magic = hn::Set(d, detail::int8_rounding::magic);
  const auto signs = hn::Set(whole, 0x808080);
  for (std::size_t k = 0; k < depth; k += block, line += block, to += in_fixed::floats) {
    auto most = hn::Zero(whole), sum = most, half = most;
    for (std::size_t i = 0; i < block; i += lanes)
      most = hn::Max(most, hn::BitCast(whole, hn::Abs(hn::LoadU(d, line + i))));
    // The largest magnitude is below 2^(e - 126).
    const int e = std::max(hn::GetLane(hn::MaxOfLanes(whole, most)) >> 23, 1);
    if (e == 255) {
      std::fill_n(to, in_fixed::floats, 0.0f);
      std::fill_n(to, 3, std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    // 2^(148 - e), in two factors, as it may be too large.
    const auto first = hn::Set(d, power_of_two((148 - e) / 2));
    const auto second = hn::Set(d, power_of_two(148 - e - (148 - e) / 2));
    auto* const quads = reinterpret_cast<std::int8_t*>(to + in_fixed::quads);
    for (std::size_t i = 0; i < block; i += lanes) {
      const auto scaled = hn::Mul(hn::Mul(hn::LoadU(d, line + i), first), second);
      const auto v = hn::Sub(hn::BitCast(whole, hn::Add(scaled, magic)), hn::BitCast(whole, magic));
      sum = hn::Add(sum, v);
      if (i + lanes == block / 2) half = sum;
      const auto three = hn::Xor(hn::Add(v, signs), signs);
      const auto store = [=](std::size_t n, auto left) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<24>(left)), bytes, quads + n * block + i);
      };
      store(0, hn::ShiftLeft<24>(three));
      store(1, hn::ShiftLeft<16>(three));
      store(2, hn::ShiftLeft<8>(three));
    }
    int total = hn::GetLane(hn::SumOfLanes(whole, sum));
    const float unit = power_of_two(e - 127) * 0x1p-21f;
    to[in_fixed::sum] = static_cast<float>(total) * unit;
    to[in_fixed::sum + 1] = static_cast<float>(hn::GetLane(hn::SumOfLanes(whole, half))) * unit;
    total *= -8;
    for (std::size_t n = 0; n < 3; ++n) {
      const int part = n == 2 ? total : static_cast<std::int8_t>(total);
      to[in_fixed::scale + n] = power_of_two(e - 127) * power_of_two(8 * static_cast<int>(n) - 21);
      to[in_fixed::middle + n] = std::bit_cast<float>(part);
      total = (total - part) >> 8;
    }
  }
}

// Elements of each line that share a scale, as numbers q of `Bits` bits without sign: quad(j) has
// those that the j-th quad of the row is multiplied with. An element is scale * (q - 8 * Middles),
// or, where Middles is 0, scale * q + off.
template <int Bits, int Middles, class V, class F>
struct group_of_quads {
  static constexpr int bits = Bits, middles = Middles;
  V scale, off;
  F quad;
};
template <int Bits, int Middles, class V, class F>
HWY_INLINE group_of_quads<Bits, Middles, V, F> group_of(V scale, V off, F quad) {
  return {scale, off, quad};
}

// The n-th group of a block; Odd is n % 2.
template <bool Odd, bool Minimum, bool FifthBit, class D>
HWY_INLINE auto quads_of(const detail::small_block<Minimum, FifthBit>&,
                         const lines_of_blocks<D>& of, std::size_t) {
  constexpr std::size_t high = 2 + 2 * Minimum, low = high + 4 * FifthBit;
  constexpr int middles = Minimum ? 0 : 1 + FifthBit;
  const auto scale = of.whole_half(0), off = Minimum ? of.whole_half(2) : scale;
  return group_of<4 + FifthBit, middles>(
      scale, off, [=](std::size_t j) HWY_ATTR __attribute__((always_inline)) {
        const auto pairs = of.quad(low + j % 4 * 4);
        const auto q = masked(j < 4 ? pairs : hn::ShiftRight<4>(pairs), 0x0f0f0f0f);
        if constexpr (!FifthBit) return q;
        // Four bits become bit 4 of a byte each.
        const auto bits = masked(hn::ShiftRightSame(of.quad(high), static_cast<int>(4 * j)), 15);
        const auto apart = hn::Mul(bits, hn::Set(hn::RebindToSigned<D>(), 0x204081));
        return hn::Or(q, hn::ShiftLeft<4>(masked(apart, 0x01010101)));
      });
}
template <bool Odd, bool FifthBit, class D>
HWY_INLINE auto quads_of(const detail::grouped_block<FifthBit>&, const lines_of_blocks<D>& of,
                         std::size_t n) {
  const auto [scale, minimum] = scales_of_group(of, n);
  return group_of<4 + FifthBit, 0>(
      hn::Mul(of.whole_half(0), scale), hn::Neg(hn::Mul(of.whole_half(2), minimum)),
      [=](std::size_t j) HWY_ATTR __attribute__((always_inline)) {
        const auto pairs = of.quad(16 + 32 * FifthBit + n / 2 * 32 + j * 4);
        const auto q = masked(Odd ? hn::ShiftRight<4>(pairs) : pairs, 0x0f0f0f0f);
        if constexpr (!FifthBit) return q;
        const auto fifth = hn::ShiftRightSame(of.quad(16 + j * 4), static_cast<int>(n));
        return hn::Or(q, hn::ShiftLeft<4>(masked(fifth, 0x01010101)));
      });
}
template <bool Odd, class D>
HWY_INLINE auto quads_of(const detail::format<stored_type::q6_k>&, const lines_of_blocks<D>& of,
                         std::size_t n) {
  const auto scale = scale_of_q6_k(of, n);
  const std::size_t low = n / 8 * 64 + n / 2 % 2 * 32, high = 128 + n / 8 * 32;
  const int four = static_cast<int>(n / 4 % 2 * 4), two = static_cast<int>(n / 2 % 4 * 2);
  return group_of<6, 0>(
      scale, hn::Mul(scale, hn::Set(D(), -32.0f)),
      [=](std::size_t j) HWY_ATTR __attribute__((always_inline)) {
        const auto q = masked(hn::ShiftRightSame(of.quad(low + j * 4), four), 0x0f0f0f0f);
        const auto bits = masked(hn::ShiftRightSame(of.quad(high + j * 4), two), 0x03030303);
        return hn::Or(q, hn::ShiftLeft<4>(bits));
      });
}

// Numbers beyond 5 bits are 16 a + b - 128: two groups in turn have the a and the b.
template <class Format>
constexpr std::size_t turns = 1;
template <>
inline constexpr std::size_t turns<detail::format<stored_type::iq4_nl>> = 2;

template <bool Odd, std::size_t ScaleBytes, int... Number, class D>
HWY_INLINE auto quads_of(const detail::table_block<ScaleBytes, Number...>& format,
                         const lines_of_blocks<D>& of, std::size_t) {
  constexpr bool wide = ((Number < -16 || Number > 15) || ...);
  constexpr int bits = wide ? 4 : 5, middles = wide ? !Odd : 2;
  constexpr auto number = [](int q) {
    return static_cast<std::int8_t>(!wide ? q + 16 : Odd ? (q + 128) % 16 : (q + 128) / 16);
  };
  alignas(16) static constexpr std::int8_t table[]{number(Number)...};
  const auto scale = scale_of(format, of);
  return group_of<bits, middles>(
      wide && !Odd ? hn::Mul(scale, hn::Set(D(), 16.0f)) : scale,
      hn::Zero(D()), [=](std::size_t j) HWY_ATTR __attribute__((always_inline)) {
        const auto pairs = of.quad(ScaleBytes + j % 4 * 4);
        return from_table(table, masked(j < 4 ? pairs : hn::ShiftRight<4>(pairs), 0x0f0f0f0f));
      });
}

// Adds the products of vectors of lines with the same block of some rows, row r's from block[r] on.
// I is (row * 3 + byte) * Vectors + vector, S row * Vectors + vector.
template <class T, std::size_t Vectors, std::size_t First, std::size_t Count, class D, class Quads,
          std::size_t... I, std::size_t... V, std::size_t... S>
HWY_INLINE void add_fixed_block(D d, std::index_sequence<I...>, std::index_sequence<V...>,
                                std::index_sequence<S...>, const float* const* block,
                                const Quads* of, hn::Vec<D>* sum) {
  using vector = hn::Vec<D>;
  const hn::RebindToSigned<D> whole;
  // Of the row's numbers for each byte, that for I.
  const auto at = [=](std::size_t i, std::size_t place, std::size_t pitch = 1) HWY_ATTR
      __attribute__((always_inline)) {
    return hn::Set(d, block[i / Vectors / 3][place + i / Vectors % 3 * pitch]);
  };
  const auto first = [=](std::size_t i) HWY_ATTR __attribute__((always_inline)) {
    const auto middle = hn::BitCast(whole, at(i, in_fixed::middle));
    if constexpr (Quads::middles == 0) return hn::Zero(d);
    return hn::BitCast(d, Quads::middles == 1 ? middle : hn::Add(middle, middle));
  };
  vector sums[]{has_short_sums<T> ? hn::Zero(d) : first(I)...}, all[]{first(I)...};
  const auto add = [&](std::size_t j) HWY_ATTR __attribute__((always_inline)) {
    const vector q[]{hn::BitCast(d, of[V].quad(j))...};
    ((sums[I] = dot_of_quads<T>(at(I, in_fixed::quads + j, 8), q[I % Vectors], sums[I])), ...);
  };
  const auto move = [&]() HWY_ATTR __attribute__((always_inline)) {
    (move_short_sums<T>(sums[I], all[I]), ...);
  };
  add(First), add(First + 1);
  if constexpr (Quads::bits > 5) move();
  add(First + 2), add(First + 3);
  if constexpr (Quads::bits > 4) move();
  if constexpr (Count == 8) add(4), add(5), add(6), add(7), move();
  const auto scaled = [&](std::size_t i) HWY_ATTR __attribute__((always_inline)) {
    const auto scale = at(i, in_fixed::scale);
    return i / Vectors % 3 == 0 ? hn::Mul(as_floats(all[i]), scale)
                                : hn::MulAdd(as_floats(all[i]), scale, all[i - Vectors]);
  };
  ((all[I] = scaled(I)), ...);
  const auto sum_of_elements = [=](std::size_t s) HWY_ATTR __attribute__((always_inline)) {
    const float* const from = block[s / Vectors] + in_fixed::sum;
    return Count == 8   ? hn::Set(d, from[0])
           : First == 0 ? hn::Set(d, from[1])
                        : hn::Sub(hn::Set(d, from[0]), hn::Set(d, from[1]));
  };
  if constexpr (Quads::middles == 0)
    ((sum[S] = hn::MulAdd(of[S % Vectors].off, sum_of_elements(S), sum[S])), ...);
  ((sum[S] = hn::MulAdd(of[S % Vectors].scale, all[(S / Vectors * 3 + 2) * Vectors + S % Vectors],
                        sum[S])),
   ...);
}

// The same of all of a format's block, for the vectors V of lines from `at` on, with sums from `to`
// on. S is row * Vectors + vector.
template <class T, std::size_t Rows, class Format, class D, std::size_t... V, std::size_t... S>
HWY_INLINE void add_fixed_vectors(D d, std::index_sequence<V...>, std::index_sequence<S...>,
                                  const float* const* rows, std::size_t first,
                                  const lines_of_blocks<D>& at, float* to) {
  constexpr std::size_t count = Format::group_quads;
  constexpr std::size_t parts = Format::block / 4 / count * turns<Format>;
  const std::size_t lanes = hn::Lanes(d), bytes = sizeof...(V) * lanes * Format::bytes / parts;
  const std::uint8_t* const ahead = at.tile + (at.width + at.line) * Format::bytes;
  const auto place = [=](std::size_t s) HWY_ATTR {
    return to + s / sizeof...(V) * max_amx_columns + s % sizeof...(V) * lanes;
  };
  hn::Vec<D> sum[]{hn::LoadU(d, place(S))...};
  const auto add = [&]<bool Odd>(std::size_t n, std::bool_constant<Odd>) HWY_ATTR
      __attribute__((always_inline)) {
    const float* block[Rows];
    for (std::size_t r = 0; r < Rows; ++r)
      block[r] = rows[r] + (first / 4 + n / turns<Format> * count) / 8 * in_fixed::floats;
    using group = decltype(quads_of<Odd>(Format(), at, n));
    // Hardware foresees all but where the high bits of large blocks are. Those of wide vectors do
    // not fit L1.
    if constexpr (parts > 2 && group::bits > 4)
      for (std::size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(ahead + n * bytes + i, 0, hn::MaxLanes(D()) > 8 ? 2 : 3);
    const group of[]{
        quads_of<Odd>(Format(), lines_of_blocks<D>{at.tile, at.width, at.line + V * lanes}, n)...};
    add_fixed_block<T, sizeof...(V), count == 8 ? 0 : 4 * Odd, count>(
        d, std::make_index_sequence<3 * sizeof...(S)>(), std::index_sequence<V...>(),
        std::index_sequence<S...>(), block, of, sum);
  };
  for (std::size_t n = 0; n < parts; n += 2) {
    add(n, std::false_type());
    if constexpr (parts > 1) add(n + 1, std::true_type());
  }
  (hn::StoreU(sum[S], d, place(S)), ...);
}

template <class T, class D, class Format, std::size_t Rows>
HWY_NOINLINE void add_products_of(const float* const* rows, std::size_t count,
                                  const std::uint8_t* tile, std::size_t width, std::size_t depth,
                                  float* sums) {
  const D d;
  const std::size_t bytes = width * Format::bytes, lanes = hn::Lanes(d);
  // Vectors share what is loaded of rows, as many as there are registers for.
  constexpr std::size_t vectors = has_32_registers || Rows == 1 ? 3 : 2;
  for (std::size_t k = 0; k < depth; k += Format::block, tile += bytes) {
    for (std::size_t line = 0, lines; line < width; line += lines) {
      const auto add = [&]<std::size_t V>(std::integral_constant<std::size_t, V>) HWY_ATTR {
        for (std::size_t r = 0; r < (Rows == 1 ? 1 : count); r += Rows)
          add_fixed_vectors<T, Rows, Format>(
              d, std::make_index_sequence<V>(), std::make_index_sequence<V * Rows>(), rows + r, k,
              lines_of_blocks<D>{tile, width, line}, sums + r * max_amx_columns + line);
        lines = V * lanes;
      };
      if (width - line >= vectors * lanes)
        add(std::integral_constant<std::size_t, vectors>());
      else
        add(std::integral_constant<std::size_t, 1>());
    }
  }
}

// `count` rows that are rounded, or one more to a multiple of two, times the lines of a tile, whose
// blocks begin at `tile`: row r's sums over the depth, of full blocks, are added to those from
// sums + r * max_amx_columns on.
template <class D>
HWY_NOINLINE void add_fixed_products(D, stored_type type, bool vnni, const float* const* rows,
                                     std::size_t count, const std::uint8_t* tile, std::size_t width,
                                     std::size_t depth, float* sums) {
  detail::with_format(type, [=]<class Format>(Format) HWY_ATTR {
    if constexpr (detail::shares_scales<Format> && Format::group_quads != 0) {
      const auto add = [=]<class T>(T) HWY_ATTR {
        if (count == 1)
          add_products_of<T, D, Format, 1>(rows, count, tile, width, depth, sums);
        else
          add_products_of<T, D, Format, 2>(rows, count, tile, width, depth, sums);
      };
      if constexpr (may_use_vnni)
        if (vnni) return add(vnni_block());
      add(fixed_block());
    }
  });
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
