// HTML pages: one self-contained file that needs no network. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "weft/pictures/grid.hpp"
#include "weft/pictures/picture.hpp"

namespace weft {

// The headings of a table.
struct table_headings {
  std::vector<std::string> columns = {};  // one for each column, or none
  std::vector<std::string> rows = {};     // one for each row, or none
};

// A page of elements from top to bottom in the order in which they are added; figures are beside
// each other where there is room. Texts are UTF-8 and are escaped; invalid bytes, and control
// characters except tabs and newlines, become U+FFFD. `language` is a BCP 47 tag. The functions
// that add return the page, for chaining.
class page {
 public:
  // An empty page; the title is its first heading as well.
  explicit page(std::string_view title, std::string_view language = "en");

  // A heading of a part of the page.
  page& heading(std::string_view text);
  // A paragraph of text.
  page& paragraph(std::string_view text);
  // Preformatted source code.
  page& listing(std::string_view code);
  // A table of values: as integers if all are, otherwise with four decimals. Throws weft::error for
  // another number of headings than there are columns or rows.
  page& table(const grid& numbers, const table_headings& headings = {});
  // A picture, embedded in the file, with a caption.
  page& figure(const picture& shown, std::string_view caption);

  // The whole document.
  std::string html() const;
  // Saves html() as a file. Throws weft::error where it cannot be written.
  void save(const std::string& file) const;

 private:
  std::string title_, language_, body_;
};

}  // namespace weft
#include "weft/header_end.hpp"
