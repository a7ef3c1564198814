// The report of the tour: values are printed to a stream, and everything is on a page.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <weft/pictures/grid.hpp>
#include <weft/pictures/page.hpp>
#include <weft/pictures/picture.hpp>

namespace attention_tour {

// Titles of a matrix's rows (down) and columns (across); empty for none.
struct axes {
  std::string down, across;
};

class report {
 public:
  explicit report(std::ostream& out);

  void step(std::string_view title, std::string_view text);
  void text(std::string_view text);
  void listing(std::string_view code);
  // Prints a matrix under its name, and adds it to the page as a table.
  void numbers(std::string_view name, const weft::grid& x, const axes& a);
  void heat_map(std::string_view name, const weft::grid& x, const axes& a, std::size_t cell = 24);
  void picture(std::string_view name, const weft::picture& p);

  const weft::page& page() const { return page_; }

 private:
  std::ostream& out_;
  weft::page page_;
};

}  // namespace attention_tour
