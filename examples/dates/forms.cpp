#include "forms.hpp"

#include <algorithm>

namespace dates {

namespace {

std::string padded(int number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

// A field of a pattern: a letter, repeated `size` times.
std::string field(date day, const locale& language, char letter, std::size_t size) {
  const std::chrono::weekday weekday(day);
  const unsigned month = static_cast<unsigned>(day.month());
  const unsigned number = static_cast<unsigned>(day.day());
  const int year = static_cast<int>(day.year());
  switch (letter) {
    case 'd':
      return padded(static_cast<int>(number), size);
    case 'o':
      return std::to_string(number).append(language.ordinal(number));
    case 'M':
      if (size < 3) return padded(static_cast<int>(month), size);
      return std::string((size == 3 ? language.short_months : language.months)[month - 1]);
    case 'y':
      return size == 2 ? padded(year % 100, 2) : padded(year, 4);
    case 'E':
      return std::string(
          (size == 3 ? language.short_weekdays : language.weekdays)[weekday.c_encoding()]);
    default:
      return std::string(size, letter);
  }
}

}  // namespace

std::string write(date day, const locale& language, std::string_view pattern) {
  std::string text;
  bool quoted = false;
  while (!pattern.empty()) {
    const char c = pattern.front();
    std::size_t size = std::min(pattern.find_first_not_of(c), pattern.size());
    if (c == '\'') {
      text.append(size / 2, c);
      quoted ^= size % 2 == 1;
    } else if (quoted) {
      text.append(size, c);
    } else {
      text += field(day, language, c, size);
    }
    pattern.remove_prefix(size);
  }
  return text;
}

std::string iso(date day) {
  return write(day, locales().front(), "y-MM-dd");
}

}  // namespace dates
