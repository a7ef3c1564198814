// The types that weights are stored in. formats.hpp has an entry for each.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// The type of a tensor's elements in a file, or of packed weights. Those of GGUF that are named
// after it are blocks of 32 or 256 elements of 4, 5, 6 or 8 bits, with scales:
// https://github.com/ggml-org/ggml, its docs/gguf.md and src/ggml-quants.c. Tensors of the formats'
// other types, `other`, can be in a file, but their elements cannot be read.
enum class stored_type : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  bfloat16_pair,  // of packed weights alone: two that are consecutive along the depth
  int8_block,     // likewise: 32, with a scale
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  mxfp4,
  float8_e4m3,
  int64,
  int32,
  boolean,
  uint8,
  int8,
  other
};

// Whether the elements are floating-point numbers, or stand for such.
constexpr bool is_floating(stored_type t) {
  return t < stored_type::int64;
}

}  // namespace weft
#include "weft/header_end.hpp"
