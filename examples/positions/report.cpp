#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "pictures.hpp"

namespace positions {

namespace {

std::vector<std::string> names_of_scores(const settings& s) {
  std::vector<std::string> all;
  for (const task& t : s.tasks)
    for (const std::size_t size : {t.most, 2 * t.most})
      all.push_back(t.name + " " + std::to_string(size));
  return all;
}

weft::grid scores_of(const outcomes& found) {
  std::vector<double> all;
  for (const auto& row : found)
    for (const outcome& o : row) all.insert(all.end(), {o.at_length, o.at_twice});
  return {std::move(all), found.size(), 2 * found.front().size()};
}

weft::grid costs_of(const settings& s, const outcomes& found) {
  std::vector<double> all;
  for (std::size_t row = 0; row < found.size(); ++row) {
    double seconds = 0;
    for (const outcome& o : found[row]) seconds += o.seconds;
    all.push_back(static_cast<double>(s.contestants[row].parameters));
    all.push_back(std::round(1e6 * seconds / static_cast<double>(found[row].size())));
  }
  return {std::move(all), found.size(), 2};
}

// The table as lines of cells, headings first.
std::vector<std::vector<std::string>> cells(const table& t) {
  std::vector<std::vector<std::string>> all(1, {"encoding"});
  all[0].insert(all[0].end(), t.scored.begin(), t.scored.end());
  all[0].insert(all[0].end(), t.counted.begin(), t.counted.end());
  for (std::size_t r = 0; r < t.encodings.size(); ++r) {
    auto& line = all.emplace_back(1, t.encodings[r]);
    const auto add = [&](const weft::grid& numbers, int digits) {
      for (std::size_t c = 0; c < numbers.columns(); ++c) {
        std::ostringstream out;
        out << std::fixed << std::setprecision(digits) << numbers(r, c);
        line.push_back(out.str());
      }
    };
    add(t.scores, 3);
    add(t.costs, 0);
  }
  return all;
}

}  // namespace

table::table(const settings& s, const outcomes& found)
    : scored(names_of_scores(s)),
      scores(scores_of(found)),
      counted{"parameters", "us/step"},
      costs(costs_of(s, found)) {
  for (const contestant& c : s.contestants) encodings.emplace_back(c.name);
}

std::string table::text() const {
  const auto all = cells(*this);
  std::vector<std::size_t> widths(all[0].size());
  for (const auto& line : all)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::ostringstream out;
  for (const auto& line : all) {
    for (std::size_t c = 0; c < line.size(); ++c)
      out << (c == 0 ? std::left : std::right) << (c == 0 ? "" : "  ")
          << std::setw(static_cast<int>(widths[c])) << line[c];
    out << "\n";
  }
  return out.str();
}

std::string table::tsv() const {
  std::string out;
  for (const auto& line : cells(*this))
    for (std::size_t c = 0; c < line.size(); ++c)
      out += line[c] + (c + 1 < line.size() ? "\t" : "\n");
  return out;
}

weft::page write_page(const settings& s, const outcomes& found, const std::string& folder) {
  const table t(s, found);
  weft::page page("Encodings of positions");
  page.paragraph(
      "Each row is a transformer of two layers and 64 units, which differs from the "
      "others in its encoding of positions alone: " +
      std::to_string(s.steps) + " steps of training for each task.");
  for (const task& k : s.tasks)
    page.paragraph(k.name + ": " + k.description + (k.nats ? "; nats." : "; share right."));
  page.table(t.scores, {.columns = t.scored, .rows = t.encodings})
      .table(t.costs, {.columns = t.counted, .rows = t.encodings});

  const auto show = [&](const std::string& heading, const std::vector<figure>& figures) {
    if (figures.empty()) return;
    page.heading(heading);
    for (const figure& f : figures) {
      f.shown.save((std::filesystem::path(folder) / (f.name + ".png")).string());
      page.figure(f.shown, f.caption);
    }
  };
  show("Sinusoids", drawn_from_formulas());
  for (std::size_t row = 0; row < found.size(); ++row)
    show("What " + std::string(s.contestants[row].name) + " adds to embeddings",
         drawn_from_training(s, row, found[row].back()));
  return page;
}

}  // namespace positions
