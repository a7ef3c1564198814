// Dates as people write them.
//
// What a text means follows from these rules, or it could not be learnt:
// - three numbers are day, month and year, whatever stands between them; only where the first has
//   four digits they are year, month and day;
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

// All days that are written about.
inline constexpr std::chrono::sys_days first_day =
    std::chrono::year(1950) / std::chrono::January / 1;
inline constexpr std::chrono::sys_days last_day =
    std::chrono::year(2049) / std::chrono::December / 31;

// How a language writes dates, in UTF-8: names and patterns of Unicode's CLDR, and common ones
// beside them.
struct locale {
  std::string_view name;
  std::array<std::string_view, 12> months, short_months;
  std::array<std::string_view, 7> weekdays, short_weekdays;  // from Sunday on
  std::string_view (*ordinal)(unsigned day);                 // what follows the number of the day
  std::vector<std::string_view> patterns;
};

std::span<const locale> locales();

// The day in a pattern of Unicode Technical Standard 35, part 4: d and dd, M and MM, y and yy are
// numbers, MMM and MMMM names of the month, EEE and EEEE of the weekday; what stands between '
// stands for itself, as do other characters, and '' is one of them. Beside the standard, o is the
// day with the ordinal's ending, as in 3rd.
std::string write(date day, const locale& language, std::string_view pattern);

// YYYY-MM-DD (ISO 8601).
std::string iso(date day);

}  // namespace dates
