// What the readers and the writer of files share: numbers of elements, and names and shapes in
// messages.
#pragma once

#include <bit>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::detail {

// Cuts a text from a file, which can be long, to its first `most` bytes and "..." for a message.
inline std::string shortened(std::string_view text, std::size_t most = 100) {
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

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

// A name such as "layer.0.attn.wq", and what is wrong with it.
struct remark {
  std::string name, what;
};

// Returns at most `lines` lines. Groups of names that differ only in their first number and have
// the same remarks share a line: "layer.6 to layer.11, each of 21 parameters: attn.wq, ...; and 19
// more". `word` is what the names are called, such as "parameters". If the lines do not suffice,
// the last one counts the remaining names.
std::vector<std::string> grouped(const std::vector<remark>& remarks, std::string_view word,
                                 std::size_t lines);

}  // namespace weft::detail
