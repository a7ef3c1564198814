#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <weft/pictures/heat_map.hpp>
#include <weft/pictures/labels.hpp>

namespace attention_tour {

namespace {

// "key 0", "key 1", ...; no labels if `what` is empty.
std::vector<std::string> labels(const std::string& what, std::size_t count) {
  if (what.empty()) return {};
  auto all = weft::indices(count);
  for (std::string& l : all) l = what + " " + l;
  return all;
}

}  // namespace

report::report(std::ostream& out) : out_(out), page_("A tour of attention") {}

void report::step(std::string_view title, std::string_view text) {
  out_ << "\n" << title << "\n";
  page_.heading(title).paragraph(text);
}

void report::text(std::string_view text) {
  page_.paragraph(text);
}

void report::listing(std::string_view code) {
  page_.listing(code);
}

void report::numbers(std::string_view name, const weft::grid& x, const axes& a) {
  const bool whole = std::ranges::all_of(x.numbers(), [](double n) { return std::trunc(n) == n; });
  out_ << name << ":\n" << std::fixed << std::setprecision(whole ? 0 : 4);
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t c = 0; c < x.columns(); ++c) out_ << " " << std::setw(8) << x(r, c);
    out_ << "\n";
  }
  page_.paragraph(std::string(name) + ":")
      .table(x, {.columns = labels(a.across, x.columns()), .rows = labels(a.down, x.rows())});
}

void report::heat_map(std::string_view name, const weft::grid& x, const axes& a, std::size_t cell) {
  picture(name, weft::heat_map(x, {.cell = cell,
                                   .down = a.down,
                                   .across = a.across,
                                   .rows = weft::indices(x.rows()),
                                   .columns = weft::indices(x.columns()),
                                   .colour_bar = true,
                                   .scale = 2}));
}

void report::picture(std::string_view name, const weft::picture& p) {
  page_.figure(p, name);
}

}  // namespace attention_tour
