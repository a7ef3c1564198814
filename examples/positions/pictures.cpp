#include "pictures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <weft/pictures/heat_map.hpp>
#include <weft/pictures/labels.hpp>
#include <weft/pictures/line_chart.hpp>
#include <weft/run.hpp>

namespace positions {

namespace {

struct Place : weft::axis<64> {};
struct Column : weft::axis<32> {};
struct Distance : weft::axis<256> {};
struct Size : weft::axis<128> {};

struct sinusoids {
  constexpr auto operator()(weft::scope) const {
    return weft::nn::sinusoidal<Column>(weft::positions<Place>());
  }
};

// The score of a query and a key that are equal but rotated by their positions, divided by their
// size.
struct rotary_score {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Size>();
    return weft::mean<Size>(weft::nn::rotary<Size>(x, weft::positions<Distance>()) * x);
  }
};

weft::picture heat_map(const weft::grid& numbers, std::string across, std::size_t cell,
                       weft::colours palette = weft::colours::diverging) {
  return weft::heat_map(numbers, {.palette = palette,
                                  .cell = cell,
                                  .down = "position",
                                  .across = std::move(across),
                                  .rows = weft::indices(numbers.rows()),
                                  .columns = weft::indices(numbers.columns()),
                                  .colour_bar = true});
}

// The bits of 0, 1, 2, ..., the lowest first, like the fastest sinusoid.
weft::grid binary() {
  constexpr std::size_t bits = 6;
  std::vector<double> all;
  for (std::size_t i = 0; i < Place::extent; ++i)
    for (std::size_t b = 0; b < bits; ++b) all.push_back(static_cast<double>(i >> b & 1));
  return {std::move(all), Place::extent, bits};
}

// The cosine of the angle between any two rows; 0 for a row of zeros.
weft::grid cosines(const weft::grid& x) {
  const auto product = [&](std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t c = 0; c < x.columns(); ++c) sum += x(i, c) * x(j, c);
    return sum;
  };
  std::vector<double> all;
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < x.rows(); ++j) {
      const double norms = std::sqrt(product(i, i) * product(j, j));
      all.push_back(norms > 0 ? product(i, j) / norms : 0);
    }
  return {std::move(all), x.rows(), x.rows()};
}

double greatest(const weft::grid& x) {
  double most = 0;
  for (const double e : x.numbers()) most = std::max(most, std::abs(e));
  return most;
}

// Whether they differ by more than float32 rounding in a difference.
bool differ(const weft::grid& a, const weft::grid& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.numbers().size(); ++i)
    most = std::max(most, std::abs(a.numbers()[i] - b.numbers()[i]));
  return most > 1e-5 * std::max(greatest(a), 1.0);
}

}  // namespace

std::vector<figure> drawn_from_formulas() {
  weft::module<sinusoids> sines;
  const weft::grid p(sines());
  std::vector<weft::line> columns;
  for (std::size_t c = 6; c < 10; ++c) {
    weft::line line{"column " + std::to_string(c), {}};
    for (std::size_t i = 0; i < p.rows(); ++i) line.values.push_back(p(i, c));
    columns.push_back(std::move(line));
  }
  weft::module<rotary_score> score;
  const std::vector<float> ones(Size::extent, 1.0f);
  const weft::grid falling(score(weft::arg<"x">(ones)));
  return {
      {"sinusoid-columns", "Four columns of the sinusoidal encoding of 32 numbers",
       weft::line_chart(columns, {.across = "position"})},
      {"sinusoids", "All of its columns: the farther to the right, the slower they turn",
       heat_map(p, "column", 6)},
      {"binary", "Binary numbers: the farther to the right, the slower bits change",
       heat_map(binary(), "bit", 6, weft::colours::sequential)},
      {"rotary-score",
       "The score of a query and a key that are ones of 128 numbers, turned by rotary embedding",
       weft::line_chart({{"", falling.numbers()}}, {.down = "mean product", .across = "distance"})},
  };
}

std::vector<figure> drawn_from_training(const settings& s, std::size_t contestant,
                                        const outcome& found) {
  const weft::grid& after = *found.added;
  if (greatest(after) == 0) return {};
  const auto& c = s.contestants[contestant];
  std::string name(c.name);
  std::ranges::replace(name, '/', '-');
  const std::string task = s.tasks.back().name;
  const weft::grid before = c.begin(1, s.seed)->added(after.rows());
  std::vector<figure> all;
  if (differ(before, after))
    all.push_back({name + "-before", "Before training", heat_map(before, "number", 3)});
  all.push_back({name, "After training for " + task, heat_map(after, "number", 3)});
  all.push_back(
      {name + "-cosines", "Cosines between positions", heat_map(cosines(after), "position", 3)});
  return all;
}

}  // namespace positions
