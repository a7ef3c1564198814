// The types of tensors in GGUF files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocks.hpp"
#include "weft/io/tensor_file.hpp"

namespace weft::detail {

// A type of tensors: `bytes` bytes for each block of `size` elements. The numbers are ggml's.
struct gguf_type {
  std::uint32_t number;
  std::string_view name;
  std::size_t size, bytes;
  stored_type type = stored_type::other;
};
template <class Block>
constexpr gguf_type blocks(std::uint32_t number, std::string_view name, stored_type type) {
  return {number, name, Block::size, Block::bytes, type};
}
inline constexpr std::array gguf_types{
    gguf_type{0, "F32", 1, 4, stored_type::float32},
    gguf_type{1, "F16", 1, 2, stored_type::float16},
    blocks<small_block<false, false>>(2, "Q4_0", stored_type::q4_0),
    blocks<small_block<true, false>>(3, "Q4_1", stored_type::q4_1),
    blocks<small_block<false, true>>(6, "Q5_0", stored_type::q5_0),
    blocks<small_block<true, true>>(7, "Q5_1", stored_type::q5_1),
    blocks<bytes_block>(8, "Q8_0", stored_type::q8_0),
    gguf_type{9, "Q8_1", 32, 36},
    gguf_type{10, "Q2_K", 256, 84},
    gguf_type{11, "Q3_K", 256, 110},
    blocks<grouped_block<false>>(12, "Q4_K", stored_type::q4_k),
    blocks<grouped_block<true>>(13, "Q5_K", stored_type::q5_k),
    blocks<six_bit_block>(14, "Q6_K", stored_type::q6_k),
    gguf_type{15, "Q8_K", 256, 292},
    gguf_type{16, "IQ2_XXS", 256, 66},
    gguf_type{17, "IQ2_XS", 256, 74},
    gguf_type{18, "IQ3_XXS", 256, 98},
    gguf_type{19, "IQ1_S", 256, 50},
    gguf_type{20, "IQ4_NL", 32, 18},
    gguf_type{21, "IQ3_S", 256, 110},
    gguf_type{22, "IQ2_S", 256, 82},
    gguf_type{23, "IQ4_XS", 256, 136},
    gguf_type{24, "I8", 1, 1},
    gguf_type{25, "I16", 1, 2},
    gguf_type{26, "I32", 1, 4, stored_type::int32},
    gguf_type{27, "I64", 1, 8, stored_type::int64},
    gguf_type{28, "F64", 1, 8, stored_type::float64},
    gguf_type{29, "IQ1_M", 256, 56},
    gguf_type{30, "BF16", 1, 2, stored_type::bfloat16},
    gguf_type{34, "TQ1_0", 256, 54},
    gguf_type{35, "TQ2_0", 256, 66},
    gguf_type{39, "MXFP4", 32, 17},
};

}  // namespace weft::detail
