// What the tour tells: the numbers on a stream, and all of it on a page.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <weft/io/grid.hpp>
#include <weft/io/page.hpp>
#include <weft/io/picture.hpp>

namespace attention_tour {

// What the rows and the columns of some numbers are; empty where that needs no word.
struct axes {
  std::string down, across;
};

class report {
 public:
  explicit report(std::ostream& out);

  void step(std::string_view title, std::string_view text);
  void text(std::string_view text);
  void listing(std::string_view code);
  // Printed under their name, and a table.
  void numbers(std::string_view name, const weft::grid& x, const axes& a);
  void heat_map(std::string_view name, const weft::grid& x, const axes& a, std::size_t cell = 24);
  void picture(std::string_view name, const weft::picture& p);

  const weft::page& page() const { return page_; }

 private:
  std::ostream& out_;
  weft::page page_;
};

}  // namespace attention_tour
