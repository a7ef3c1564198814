// What packed weights are kept in.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// What packed weights are kept in, for module::freeze. Sums are float32 in all of these. Tables
// that only weft::gather reads are kept in the same, their blocks along rows; in float32 where
// blocks do not make up a row, and as stored in float16 where a file has that.
// - bfloat16 halves the memory. A weight is rounded to the nearest one, ties to even, and so is off
//   by at most 2^-8 of itself; what it is multiplied with stays float32.
// - bfloat16_products takes the same memory, and is faster than float32 where the processor
//   multiplies bfloat16: there, what a weight is multiplied with is rounded in the same way, a
//   product is off by 2^-7 + 2^-16 of itself, and numbers below 2^-126 count as zeros. Those are
//   AMD's from Zen 4 on; Intel's with AMX, under Linux, from Sapphire Rapids on; and 64-bit Arm's
//   with BF16, if Highway is 1.2 or newer. Elsewhere it is the same as bfloat16. The first product
//   asks Linux for AMX, which then wants alternate signal stacks (sigaltstack) to have room for its
//   registers, 12 KB in all; where a thread has a smaller one, it refuses, and vectors multiply.
// - q8_0 takes 17/64 of the memory: GGUF's Q8_0. Each 32 weights that follow each other along the
//   depth of a product, or fewer at its end, have a scale, d = max |w| / 127 rounded to float16,
//   and 8 bits each, w / d rounded to nearest, ties away from zero. A weight is off by at most
//   2^-7.8 of the largest of its 32, plus 2^-18; what it is multiplied with stays float32. Blocks
//   of a file that has Q8_0 along that depth are taken as they are. With a weight that is NaN or
//   infinite, or above 8.3e6, all 32 are NaN.
// - q4_0 takes 9/64 of the memory: GGUF's Q4_0, with d = w / -8 of the weight w of the largest
//   magnitude, and 4 bits each, w / d in [-8, 7]. A weight is off by at most (2^-3 + 2^-11) of the
//   largest of its 32, plus 2^-21; all 32 are NaN with one above 5.2e5. Else as q8_0.
// - stored is as a file has the weights: blocks of GGUF's formats that follow each other along that
//   depth bit for bit, each parameter in its own format; float32 as it is; others in bfloat16.
// - int8_products takes 9/32 of the memory, and multiplies integers. Each 32 weights, as in q8_0,
//   have a scale, d = max |w| / 127 rounded up to 16 significant bits, and 8 bits each, w / d
//   rounded to nearest, ties to even. What they are multiplied with is rounded likewise in every
//   run, each 32 of a row by themselves, so that a row's results do not depend on other rows: on a
//   batch, its order or its padding. Sums of 32 products are exact, those of the blocks float32. A
//   product is off by at most 1/127 + 2^-14 of that of the largest magnitudes of both blocks. A
//   block with a NaN or an infinity is NaN, and of one whose numbers are below 1e-36 all are zeros.
//   The fastest are x86-64 processors with AVX-512 VNNI, and 64-bit Arm's if weft is compiled for
//   dot products.
enum class precision : std::uint8_t {
  float32,
  bfloat16,
  bfloat16_products,
  q8_0,
  q4_0,
  stored,
  int8_products
};

// What packed weights take, or where they begin.
struct packed_extent {
  std::size_t floats;    // where each weight is a number: in bytes of float32
  std::size_t blocks;    // where 32 along the depth are a block: in blocks
  std::size_t gathered;  // of `floats`: of tables, which as float32 are not packed

  // The sum.
  constexpr packed_extent& operator+=(const packed_extent& more) {
    floats += more.floats, blocks += more.blocks, gathered += more.gathered;
    return *this;
  }
};

// The same in bytes; as precision::stored, at most.
constexpr std::size_t packed_size(packed_extent e, precision as) {
  if (as == precision::q8_0) return e.blocks * 34;
  if (as == precision::int8_products) return e.blocks * 36;
  if (as == precision::q4_0) return e.blocks * 18;
  if (as == precision::float32) return e.floats - e.gathered;
  return as == precision::stored ? e.floats : e.floats / 2;
}

// The extent of a line of weights along the depth, which is padded to full blocks. Some targets
// interleave pairs, so as single numbers it is padded to an even number.
constexpr packed_extent line_of_packed(std::size_t depth) {
  return {(depth + 1) / 2 * 2 * sizeof(float), (depth + 31) / 32, 0};
}

namespace detail {

// In files of packed weights.
inline constexpr std::array precision_names{"float32", "bfloat16", "bfloat16_products", "q8_0",
                                            "q4_0",    "stored",   "int8_products"};
constexpr const char* name_of(precision p) {
  return precision_names[static_cast<std::size_t>(p)];
}

}  // namespace detail
}  // namespace weft
#include "weft/header_end.hpp"
