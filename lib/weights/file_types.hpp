// The types of tensors in files: those that are read, and the formats' others, of which a reader of
// files knows name and size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "weft/weights/formats.hpp"

namespace weft::detail {

inline constexpr stored_info other_types[]{
    {"I8", 24, 1, 8},
    {"I16", 25, 1, 16},
    {"U16", -1, 1, 16},
    {"U32", -1, 1, 32},
    {"U64", -1, 1, 64},
    {"C64", -1, 1, 64},
    {"F8_E4M3", -1, 1, 8},
    {"F8_E5M2", -1, 1, 8},
    {"F8_E8M0", -1, 1, 8},
    {"F8_E4M3FNUZ", -1, 1, 8},
    {"F8_E5M2FNUZ", -1, 1, 8},
    {"F6_E2M3", -1, 1, 6},
    {"F6_E3M2", -1, 1, 6},
    {"F4", -1, 1, 4},
    {"Q8_1", 9, 32, 8 * 36},
    {"Q2_K", 10, 256, 8 * 84},
    {"Q3_K", 11, 256, 8 * 110},
    {"Q8_K", 15, 256, 8 * 292},
    {"IQ2_XXS", 16, 256, 8 * 66},
    {"IQ2_XS", 17, 256, 8 * 74},
    {"IQ3_XXS", 18, 256, 8 * 98},
    {"IQ1_S", 19, 256, 8 * 50},
    {"IQ4_NL", 20, 32, 8 * 18},
    {"IQ3_S", 21, 256, 8 * 110},
    {"IQ2_S", 22, 256, 8 * 82},
    {"IQ4_XS", 23, 256, 8 * 136},
    {"IQ1_M", 29, 256, 8 * 56},
    {"TQ1_0", 34, 256, 8 * 54},
    {"TQ2_0", 35, 256, 8 * 66},
    {"MXFP4", 39, 32, 8 * 17},
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
