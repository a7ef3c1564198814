// Dates as people write them.
//
// The meaning of a text follows from these rules, or it could not be learned:
// - three numbers are day, month and year, whatever is between them; only where the first has four
//   digits they are year, month and day;
// - two digits of a year are the year from 1950 to 2049 that ends with them.
#pragma once

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dates {

using date = std::chrono::year_month_day;

// The range of dates.
inline constexpr std::chrono::sys_days first_day =
    std::chrono::year(1950) / std::chrono::January / 1;
inline constexpr std::chrono::sys_days last_day =
    std::chrono::year(2049) / std::chrono::December / 31;

// A language's date formats, in UTF-8: names and patterns of Unicode's CLDR, and other common ones.
struct locale {
  std::string_view name;
  std::array<std::string_view, 12> months, short_months;
  std::array<std::string_view, 7> weekdays, short_weekdays;  // from Sunday on
  std::string_view (*ordinal)(unsigned day);                 // suffix of the day of the month
  std::vector<std::string_view> patterns;
};

std::span<const locale> locales();

// Formats a day by a pattern of Unicode Technical Standard 35, part 4: d and dd, M and MM, y and yy
// are numbers, MMM and MMMM names of the month, EEE and EEEE of the weekday; text between ' is
// literal, as are other characters, and '' is one quote. Beyond the standard, o is the day with its
// ordinal suffix, as in 3rd.
std::string write(date day, const locale& language, std::string_view pattern);

// YYYY-MM-DD (ISO 8601).
std::string iso(date day);

}  // namespace dates
