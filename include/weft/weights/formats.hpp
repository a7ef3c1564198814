// How each stored type of weights looks, one entry for each: its name and number in files, its
// blocks, and what their elements are.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/axes/fixed_string.hpp"
#include "weft/bfloat16.hpp"
#include "weft/weights/float16.hpp"
#include "weft/weights/int8.hpp"
#include "weft/weights/stored.hpp"

namespace weft::detail {

// The bytes of one block, little-endian and without alignment.
using block_bytes = const std::uint8_t*;

// The entry of a stored type:
//   name          in safetensors, which have the types whose blocks are single elements, or in GGUF
//   gguf          its number in GGUF, which is ggml's; -1: GGUF does not have it
//   block, bytes  the elements of a block, and its bytes
//   value         the type of its elements: double, float, std::int64_t, std::int32_t or bool
//   scales        of blocks that share scales, where those are that may be NaN or infinite
//   group_quads   of blocks that packed weights have in quads, parts of four bytes: how many have
//                 the elements that share a scale; else 0
//   decode(b, to) the elements of a block: exact, or rounded once
//   encode(x)     the element nearest to x, ties to even, as it is stored; without it, no file is
//                 written in this type
//   encode(x, to) of blocks that share scales, the block of these elements; without it, no weights
//                 are quantised to this type
template <stored_type>
struct format;

template <fixed_string Name, int Number = -1>
struct in_files {
  static constexpr std::string_view name = Name.view();
  static constexpr int gguf = Number;
};

// A range of a block's bytes with scales, each float16, or an exponent of one byte (E8M0).
struct scales_of_block {
  std::uint8_t begin = 0, end = 0, size = 2;
};
template <class Value, std::size_t Bytes, std::size_t Block = 1,
          scales_of_block Scales = scales_of_block{}>
struct block_format {
  using value = Value;
  static constexpr std::size_t block = Block, bytes = Bytes;
  static constexpr scales_of_block scales = Scales;
  static constexpr std::size_t group_quads = 0;
};
template <class Format>
inline constexpr bool shares_scales = Format::scales.end != 0;

// Numbers that are stored as they are.
template <class T>
struct plain_format : block_format<T, sizeof(T)> {
  static void decode(block_bytes b, T* to) { std::memcpy(to, b, sizeof(T)); }
  static constexpr T encode(auto x) { return static_cast<T>(x); }
};
template <>
struct format<stored_type::float64> : in_files<"F64", 28>, plain_format<double> {};
template <>
struct format<stored_type::float32> : in_files<"F32", 0>, plain_format<float> {};
template <>
struct format<stored_type::int64> : in_files<"I64", 27>, plain_format<std::int64_t> {};
template <>
struct format<stored_type::int32> : in_files<"I32", 26>, plain_format<std::int32_t> {};

inline std::uint16_t bits16_at(block_bytes b) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, b, sizeof bits);
  return bits;
}
inline float float16_at(block_bytes b) {
  return from_float16(bits16_at(b));
}
template <>
struct format<stored_type::float16> : in_files<"F16", 1>, block_format<float, 2> {
  static void decode(block_bytes b, float* to) { *to = float16_at(b); }
  static constexpr std::uint16_t encode(float x) { return to_float16(x); }
};
template <>
struct format<stored_type::bfloat16> : in_files<"BF16", 30>, block_format<float, 2> {
  static void decode(block_bytes b, float* to) {
    *to = std::bit_cast<float>(std::uint32_t{bits16_at(b)} << 16);
  }
  static constexpr bfloat16 encode(float x) { return bfloat16(x); }
};
// Four bits of exponent, whose bias is 7, and three of fraction; all ones are NaN.
template <>
struct format<stored_type::float8_e4m3> : in_files<"F8_E4M3">, block_format<float, 1> {
  static void decode(block_bytes b, float* to) {
    const unsigned bits = *b & 0x7f;
    const float size = bits < 8     ? static_cast<float>(bits) * 0x1p-9f
                       : bits < 127 ? std::bit_cast<float>((bits << 20) + (120u << 23))
                                    : std::numeric_limits<float>::quiet_NaN();
    *to = *b < 128 ? size : -size;
  }
};
template <>
struct format<stored_type::bfloat16_pair> : in_files<"BF16 pairs">, block_format<float, 4, 2> {
  static void decode(block_bytes b, float* to) {
    for (int i = 0; i < 2; ++i) format<stored_type::bfloat16>::decode(b + 2 * i, to + i);
  }
};
template <>
struct format<stored_type::boolean> : in_files<"BOOL">, block_format<bool, 1> {
  static void decode(block_bytes b, bool* to) { *to = *b != 0; }
  static constexpr std::uint8_t encode(bool x) { return x; }
};
template <>
struct format<stored_type::uint8> : in_files<"U8">, block_format<std::int32_t, 1> {
  static void decode(block_bytes b, std::int32_t* to) { *to = *b; }
};
template <>
struct format<stored_type::int8> : in_files<"I8", 24>, block_format<std::int32_t, 1> {
  static void decode(block_bytes b, std::int32_t* to) { *to = static_cast<std::int8_t>(*b); }
};

// The blocks of GGUF: groups of elements of few bits that share scales. The layouts and formulas
// are those of ggml (https://github.com/ggml-org/ggml, src/ggml-common.h and src/ggml-quants.c).
// Every product is exact in float, or infinite, as the scales have 11 bits and are multiplied with
// at most 8, so at most one rounding is left and each element has one possible value.

// 32 elements: a scale, in some formats a minimum, in some a fifth bit of each element, and the low
// 4 bits of elements i and i + 16 in byte i.
template <bool Minimum, bool FifthBit>
struct small_block : block_format<float, 2 + 2 * Minimum + 4 * FifthBit + 16, 32,
                                  scales_of_block{0, 2 + 2 * Minimum}> {
  static constexpr std::size_t group_quads = 8;
  static void decode(block_bytes b, float* to) {
    const float scale = float16_at(b);
    constexpr int middle = Minimum ? 0 : FifthBit ? 16 : 8;
    const block_bytes high = b + 2 + 2 * Minimum, low = high + 4 * FifthBit;
    for (unsigned i = 0; i < 32; ++i) {
      int q = i < 16 ? low[i] & 15 : low[i - 16] >> 4;
      if (FifthBit) q |= (high[i / 8] >> i % 8 & 1) << 4;
      to[i] = scale * static_cast<float>(q - middle);
      if (Minimum) to[i] += float16_at(b + 2);
    }
  }
};
// Half of the power of two that an exponent of one byte stands for (E8M0).
inline float half_of_exponent(std::uint32_t e) {
  return std::bit_cast<float>(e < 2 ? (e + 1) << 21 : (e - 1) << 23);
}
// Writes a block's scale, d as a float16, or NaN where it is not finite. Returns 1 / d, or 0 where
// there is none; of subnormal d, where it may be infinite, the float16 is zero.
inline float encode_scale(float d, std::uint8_t* to) {
  std::uint16_t bits = to_float16(d);
  const bool finite = (bits & 0x7c00) != 0x7c00;
  if (!finite) bits = 0x7e00;
  std::memcpy(to, &bits, sizeof bits);
  return finite && (d < 0 ? -d : d) >= std::numeric_limits<float>::min() ? 1 / d : 0;
}
// The first element of the largest magnitude; NaN and infinity are the largest.
inline float largest_of(const float* x, std::size_t count) {
  const auto magnitude = [](float v) { return std::bit_cast<std::uint32_t>(v) & 0x7fffffffu; };
  return *std::max_element(x, x + count,
                           [=](float a, float b) { return magnitude(a) < magnitude(b); });
}

// Encoded as ggml's quantize_row_q4_0_ref does, where that is defined.
template <>
struct format<stored_type::q4_0> : in_files<"Q4_0", 2>, small_block<false, false> {
  static void encode(const float* x, std::uint8_t* to) {
    const float inverse = encode_scale(largest_of(x, block) / -8, to);
    const auto q = [&](float v) {
      return inverse == 0 ? 8 : std::min(15, static_cast<int>(v * inverse + 8.5f));
    };
    for (std::size_t i = 0; i < 16; ++i)
      to[2 + i] = static_cast<std::uint8_t>(q(x[i]) | q(x[i + 16]) << 4);
  }
};
template <>
struct format<stored_type::q4_1> : in_files<"Q4_1", 3>, small_block<true, false> {};
template <>
struct format<stored_type::q5_0> : in_files<"Q5_0", 6>, small_block<false, true> {};
template <>
struct format<stored_type::q5_1> : in_files<"Q5_1", 7>, small_block<true, true> {};

// 32 elements: a scale, and the places of elements i and i + 16 in a table, 4 bits each, in byte i.
template <std::size_t ScaleBytes, int... Number>
struct table_block
    : block_format<float, ScaleBytes + 16, 32, scales_of_block{0, ScaleBytes, ScaleBytes}> {
  static constexpr std::size_t group_quads = 8;
  alignas(16) static constexpr std::int8_t numbers[16]{Number...};
  static void decode(block_bytes b, float* to) {
    const float scale = ScaleBytes == 1 ? half_of_exponent(*b) : float16_at(b);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned pair = b[ScaleBytes + i];
      to[i] = scale * static_cast<float>(numbers[pair & 15]);
      to[i + 16] = scale * static_cast<float>(numbers[pair >> 4]);
    }
  }
};
template <>
struct format<stored_type::iq4_nl>
    : in_files<"IQ4_NL", 20>,
      table_block<2, -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113> {};
// The table has twice the numbers of E2M1.
template <>
struct format<stored_type::mxfp4>
    : in_files<"MXFP4", 39>,
      table_block<1, 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12> {};

// A scale, and 32 signed bytes. Encoded as ggml's quantize_row_q8_0_ref does, where that is
// defined.
template <>
struct format<stored_type::q8_0> : in_files<"Q8_0", 8>,
                                   block_format<float, 2 + 32, 32, scales_of_block{0, 2}> {
  static void decode(block_bytes b, float* to) {
    const float scale = float16_at(b);
    for (std::size_t i = 0; i < block; ++i)
      to[i] = scale * static_cast<float>(static_cast<std::int8_t>(b[2 + i]));
  }
  static void encode(const float* x, std::uint8_t* to) {
    const float most = largest_of(x, block);
    const float inverse = encode_scale((most < 0 ? -most : most) / 127, to);
    for (std::size_t i = 0; i < block; ++i) {
      const double q = static_cast<double>(inverse == 0 ? 0 : x[i] * inverse);
      to[2 + i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(q < 0 ? q - 0.5 : q + 0.5));
    }
  }
};

// A float32 scale, and 32 signed bytes.
template <>
struct format<stored_type::int8_block> : in_files<"I8 blocks">, block_format<float, 4 + 32, 32> {
  static constexpr std::size_t group_quads = 8;
  static void decode(block_bytes b, float* to) {
    float scale = 0;
    std::memcpy(&scale, b, sizeof scale);
    for (std::size_t i = 0; i < block; ++i)
      to[i] = scale * static_cast<float>(static_cast<std::int8_t>(b[4 + i]));
  }
  static void encode(const float* x, std::uint8_t* to) {
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < block; ++i)
      most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu);
    const int8_rounding rounded(most);
    std::memcpy(to, &rounded.scale, sizeof rounded.scale);
    for (std::size_t i = 0; i < block; ++i) to[4 + i] = static_cast<std::uint8_t>(rounded(x[i]));
  }
};

// 256 elements in 8 groups, each with a scale and a minimum of 6 bits, which are multiples of the
// block's two float16.
template <bool FifthBit>
struct grouped_block
    : block_format<float, 4 + 12 + 32 * FifthBit + 128, 256, scales_of_block{0, 4}> {
  static constexpr std::size_t group_quads = 8;
  static void decode(block_bytes b, float* to) {
    const float scale = float16_at(b), minimum = float16_at(b + 2);
    const block_bytes six = b + 4, high = b + 16, low = high + 32 * FifthBit;
    for (unsigned g = 0; g < 8; ++g) {
      // The 6 bits of the first four groups are in one byte; the others have 4 there, and their two
      // high bits in the upper ones of the first groups' bytes.
      const int s = g < 4 ? six[g] & 63 : (six[g + 4] & 15) | six[g - 4] >> 6 << 4;
      const int m = g < 4 ? six[g + 4] & 63 : six[g + 4] >> 4 | six[g] >> 6 << 4;
      const float of_group = scale * static_cast<float>(s), off = minimum * static_cast<float>(m);
      for (unsigned i = 0; i < 32; ++i) {
        const int pair = low[g / 2 * 32 + i];
        int q = g % 2 == 0 ? pair & 15 : pair >> 4;
        if (FifthBit) q |= (high[i] >> g & 1) << 4;
        to[g * 32 + i] = of_group * static_cast<float>(q) - off;
      }
    }
  }
};
template <>
struct format<stored_type::q4_k> : in_files<"Q4_K", 12>, grouped_block<false> {};
template <>
struct format<stored_type::q5_k> : in_files<"Q5_K", 13>, grouped_block<true> {};

// 256 elements in 16 groups with a scale of 8 bits each, in two halves of 128: the low 4 bits of
// elements i and i + 64 of a half in byte i, two high bits of elements i, i + 32, i + 64 and i + 96
// in byte i; the block's float16 is last.
template <>
struct format<stored_type::q6_k>
    : in_files<"Q6_K", 14>, block_format<float, 128 + 64 + 16 + 2, 256, scales_of_block{208, 210}> {
  static constexpr std::size_t group_quads = 4;
  static void decode(block_bytes b, float* to) {
    const float scale = float16_at(b + 208);
    for (unsigned e = 0; e < 256; ++e) {
      const unsigned half = e / 128, i = e % 128;
      const int pair = b[half * 64 + i % 64];
      const int low = i < 64 ? pair & 15 : pair >> 4;
      const int high = b[128 + half * 32 + i % 32] >> i / 32 * 2 & 3;
      const float of_group = scale * static_cast<float>(static_cast<std::int8_t>(b[192 + e / 16]));
      to[e] = of_group * static_cast<float>((low | high << 4) - 32);
    }
  }
};

// Whether elements whose numbers are of type Value are read as T.
template <class T, class Value>
inline constexpr bool is_read_as = std::same_as<T, double> ||
                                   (std::same_as<T, float> ? std::floating_point<Value>
                                    : std::same_as<T, bool>
                                        ? std::same_as<Value, bool>
                                        : std::integral<Value> && !std::same_as<Value, bool>);

template <class Format>
concept says_block = requires {
  typename Format::value;
  Format::name, Format::gguf, Format::block, Format::bytes;
};
template <class Format>
concept says_decode = requires(block_bytes b, typename Format::value* to) {
  Format::decode(b, to);
};

// What an entry says of its files.
struct stored_info {
  std::string_view name;
  int gguf;
  std::size_t block, bits;  // of a block
  stored_type type = stored_type::other;
  scales_of_block scales{};
  std::size_t group_quads = 0;
  constexpr bool shares_scales() const { return scales.end != 0; }
  // Whether no scale of a block is NaN or infinite.
  bool has_finite_scales(block_bytes b) const {
    for (std::size_t i = scales.begin; i < scales.end; i += scales.size)
      if (scales.size == 1 ? b[i] == 0xff : (bits16_at(b + i) & 0x7c00) == 0x7c00) return false;
    return true;
  }
  // Of 32 elements or more, which packed weights have along the depth.
  constexpr bool is_block() const { return block >= 32; }
};
template <stored_type Type>
constexpr stored_info checked_info() {
  using entry = format<Type>;
  static_assert(says_block<entry>,
                "weights: a stored type has no entry, or it lacks name, number, value or block; "
                "write detail::format<stored_type::...>");
  static_assert(says_decode<entry>, "weights: an entry has no function decode");
  static_assert(entry::group_quads == 0 ||
                    (entry::scales.begin % 4 == 0 &&
                     (entry::bytes - entry::scales.end + entry::scales.begin) % 4 == 0),
                "weights: blocks in quads have four bytes at a time beside their scales; leave "
                "group_quads out of the entry");
  return {entry::name, entry::gguf,   entry::block,      8 * entry::bytes,
          Type,        entry::scales, entry::group_quads};
}
template <class Sequence>
inline constexpr int stored_infos = 0;
template <int... Type>
inline constexpr stored_info stored_infos<std::integer_sequence<int, Type...>>[] {
  checked_info<static_cast<stored_type>(Type)>()...
};
using stored_types = std::make_integer_sequence<int, static_cast<int>(stored_type::other)>;

// The most elements, and so bytes, of a block that shares scales.
inline constexpr std::size_t max_block = 256;

// The entry of a type that is read.
constexpr const stored_info& entry_of(stored_type type) {
  return stored_infos<stored_types>[static_cast<int>(type)];
}

// The bytes of the elements, a multiple of a block.
constexpr std::size_t bytes_of(stored_type type, std::size_t elements) {
  return elements / entry_of(type).block * entry_of(type).bits / 8;
}

// Calls f(format<type>()); nothing for stored_type::other.
template <class F>
constexpr void with_format(stored_type type, F f) {
  [&]<int... Type>(std::integer_sequence<int, Type...>) {
    const auto call_if = [&]<stored_type One>(std::integral_constant<stored_type, One>) {
      if (type == One) f(format<One>());
    };
    (call_if(std::integral_constant<stored_type, static_cast<stored_type>(Type)>()), ...);
  }
  (stored_types());
}

// The other types of files, of which only name and size are known.
inline constexpr stored_info other_types[]{
    {"I16", 25, 1, 16},           {"U16", -1, 1, 16},           {"U32", -1, 1, 32},
    {"U64", -1, 1, 64},           {"C64", -1, 1, 64},           {"F8_E5M2", -1, 1, 8},
    {"F8_E8M0", -1, 1, 8},        {"F8_E4M3FNUZ", -1, 1, 8},    {"F8_E5M2FNUZ", -1, 1, 8},
    {"F6_E2M3", -1, 1, 6},        {"F6_E3M2", -1, 1, 6},        {"F4", -1, 1, 4},
    {"Q8_1", 9, 32, 8 * 36},      {"Q2_K", 10, 256, 8 * 84},    {"Q3_K", 11, 256, 8 * 110},
    {"Q8_K", 15, 256, 8 * 292},   {"IQ2_XXS", 16, 256, 8 * 66}, {"IQ2_XS", 17, 256, 8 * 74},
    {"IQ3_XXS", 18, 256, 8 * 98}, {"IQ1_S", 19, 256, 8 * 50},   {"IQ3_S", 21, 256, 8 * 110},
    {"IQ2_S", 22, 256, 8 * 82},   {"IQ4_XS", 23, 256, 8 * 136}, {"IQ1_M", 29, 256, 8 * 56},
    {"TQ1_0", 34, 256, 8 * 54},   {"TQ2_0", 35, 256, 8 * 66},
};

// The first type for which is(type); null where there is none.
template <class F>
constexpr const stored_info* find_type(F is) {
  for (const stored_info& t : stored_infos<stored_types>)
    if (is(t)) return &t;
  const auto* const t = std::ranges::find_if(other_types, is);
  return t == std::end(other_types) ? nullptr : t;
}
constexpr const stored_info* find_in_gguf(std::uint32_t number) {
  return find_type(
      [&](const stored_info& t) { return t.gguf >= 0 && std::cmp_equal(t.gguf, number); });
}
constexpr const stored_info* find_in_safetensors(std::string_view name) {
  return find_type([&](const stored_info& t) { return t.block == 1 && t.name == name; });
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
