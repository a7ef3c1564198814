// What the readers and the writer of safetensors files share: the dtypes of the format, numbers of
// elements, and names and shapes in messages.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "shortened.hpp"
#include "weft/io/tensor_file.hpp"

namespace weft::detail {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// A dtype of the format.
struct type_entry {
  std::string_view name;
  std::size_t bits;
  stored_type type = stored_type::other;
};
inline constexpr std::array<type_entry, 22> stored_types{{{"F64", 64, stored_type::float64},
                                                          {"F32", 32, stored_type::float32},
                                                          {"F16", 16, stored_type::float16},
                                                          {"BF16", 16, stored_type::bfloat16},
                                                          {"I64", 64, stored_type::int64},
                                                          {"I32", 32, stored_type::int32},
                                                          {"BOOL", 8, stored_type::boolean},
                                                          {"U8", 8, stored_type::uint8},
                                                          {"I8", 8},
                                                          {"I16", 16},
                                                          {"U16", 16},
                                                          {"U32", 32},
                                                          {"U64", 64},
                                                          {"C64", 64},
                                                          {"F8_E4M3", 8},
                                                          {"F8_E5M2", 8},
                                                          {"F8_E8M0", 8},
                                                          {"F8_E4M3FNUZ", 8},
                                                          {"F8_E5M2FNUZ", 8},
                                                          {"F6_E2M3", 6},
                                                          {"F6_E3M2", 6},
                                                          {"F4", 4}}};

// The entry of a type that the format has, or a default.
constexpr type_entry entry_of(stored_type type) {
  for (const type_entry& e : stored_types)
    if (e.type == type) return e;
  return {};
}
inline std::string_view name_of(stored_type type) {
  return entry_of(type).name;
}
inline std::size_t bytes_of(stored_type type) {
  return entry_of(type).bits / 8;
}

// A number of elements or bytes, with overflow detection.
struct checked_size {
  std::size_t value = 1;
  bool fits = true;
  void times(std::size_t n) {
    fits = fits && (n == 0 || value <= std::numeric_limits<std::size_t>::max() / n);
    value *= n;
  }
};
inline checked_size elements_of(const std::vector<std::size_t>& shape) {
  checked_size n;
  for (const std::size_t extent : shape) n.times(extent);
  return n;
}

// Lists at most 16 values, so that messages stay short.
inline std::string to_string(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t most = 16;
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return text + (numbers.size() > most ? ", ...]" : "]");
}
inline std::string in_quotes(std::string_view text) {
  std::string quoted(1, '\'');
  quoted += shortened(text);
  return quoted += '\'';
}

}  // namespace weft::detail
