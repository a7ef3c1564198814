// Encoding of texts as the model's inputs, and the symbols of its outputs, ISO 8601 dates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dates {

// The characters of dates in all forms.
inline constexpr std::u32string_view alphabet =
    U" ',-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzºÇáäåçéìöûüğıŞş";

// The index of each character in the alphabet. Throws weft::error for a text that is not UTF-8, or
// has a character that no date has.
std::vector<std::int32_t> encode(std::string_view text);

// The characters of ISO 8601 dates, and the begin-of-sequence sign.
inline constexpr std::string_view symbols = "0123456789-^";
inline constexpr std::int32_t begin_sign = symbols.size() - 1;

}  // namespace dates
