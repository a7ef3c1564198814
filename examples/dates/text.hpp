// From texts to the numbers that the model reads, and from those that it writes to ISO 8601.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dates {

// What dates in all forms are written with.
inline constexpr std::u32string_view alphabet =
    U" ',-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzºÇáäåçéìöûüğıŞş";

// The place of each character in the alphabet. Throws weft::error for a text that is not UTF-8, or
// has a character that no date has.
std::vector<std::int32_t> encode(std::string_view text);

// What ISO 8601's dates are written with, and the sign that stands before them.
inline constexpr std::string_view symbols = "0123456789-^";
inline constexpr std::int32_t begin_sign = symbols.size() - 1;

}  // namespace dates
