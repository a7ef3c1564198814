#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace positions {

namespace {

std::vector<std::string> columns_of(const settings& s) {
  std::vector<std::string> all;
  for (task const& t : s.tasks) {
    all.push_back(t.name + " " + std::to_string(t.most));
    all.push_back(t.name + " " + std::to_string(2 * t.most));
  }
  all.push_back("parameters");
  all.push_back("ms/step");
  return all;
}

std::vector<std::string> rows_of(const settings& s) {
  std::vector<std::string> all;
  for (contestant const& c : s.contestants) all.emplace_back(c.name);
  return all;
}

weft::grid numbers_of(const settings& s, const std::vector<std::vector<outcome>>& found) {
  std::vector<double> all;
  for (std::size_t row = 0; row < found.size(); ++row) {
    double seconds = 0;
    for (outcome const& o : found[row]) {
      all.push_back(o.at_length);
      all.push_back(o.at_twice);
      seconds += o.seconds;
    }
    all.push_back(static_cast<double>(s.contestants[row].parameters));
    all.push_back(1e3 * seconds / static_cast<double>(found[row].size()));
  }
  return {std::move(all), found.size(), 2 * s.tasks.size() + 2};
}

}  // namespace

table::table(const settings& s, const std::vector<std::vector<outcome>>& found)
    : columns(columns_of(s)), rows(rows_of(s)), numbers(numbers_of(s, found)) {}

std::string table::cell(std::size_t row, std::size_t column) const {
  std::ostringstream out;
  double const x = numbers(row, column);
  out << std::fixed << std::setprecision(columns[column] == "parameters" ? 0 : 3) << x;
  return out.str();
}

std::string table::text() const {
  std::size_t widest = 0;
  for (std::string const& name : rows) widest = std::max(widest, name.size());
  std::ostringstream out;
  out << std::string(widest, ' ');
  for (std::string const& name : columns) out << "  " << std::setw(6) << name;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out << "\n" << rows[r] << std::string(widest - rows[r].size(), ' ');
    for (std::size_t c = 0; c < columns.size(); ++c)
      out << "  " << std::setw(static_cast<int>(std::max<std::size_t>(columns[c].size(), 6)))
          << cell(r, c);
  }
  out << "\n";
  return out.str();
}

std::string table::tsv() const {
  std::string all = "encoding";
  for (std::string const& name : columns) all += "\t" + name;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    all += "\n" + rows[r];
    for (std::size_t c = 0; c < columns.size(); ++c) all += "\t" + cell(r, c);
  }
  return all + "\n";
}

}  // namespace positions
