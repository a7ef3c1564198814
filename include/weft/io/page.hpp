// A page for browsers: one HTML file that needs no other and no network. Link weft::pictures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/io/grid.hpp"
#include "weft/io/picture.hpp"

namespace weft {

// What is added stands on the page from top to bottom, figures side by side where there is room.
// Texts are UTF-8 and nothing in them is markup; what is not UTF-8, and control characters but
// tabs and ends of lines, become U+FFFD. `language` is a BCP 47 tag.
class page {
 public:
  explicit page(std::string_view title, std::string_view language = "en");

  page& heading(std::string_view text);
  page& paragraph(std::string_view text);
  page& listing(std::string_view code);
  // Whole numbers where all are, and otherwise four digits after the point. `columns` and `rows`
  // are headings, one for each or none; throws weft::error where there are more or fewer.
  page& table(const grid& numbers, const std::vector<std::string>& columns = {},
              const std::vector<std::string>& rows = {});
  page& figure(const picture& shown, std::string_view caption);

  std::string html() const;
  // Throws weft::error where the file cannot be written.
  void write(const std::string& file) const;

 private:
  std::string title_, language_, body_;
};

}  // namespace weft
