#include "weft/pictures/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "canvas.hpp"
#include "chart.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

// Lightness is monotonic on each side, so they read in greyscale too.
constexpr std::array<rgb, 5> dark_to_light{
    {{24, 15, 62}, {86, 30, 110}, {165, 52, 96}, {229, 105, 53}, {250, 235, 160}}};
constexpr std::array<rgb, 5> blue_to_red{
    {{20, 60, 140}, {110, 160, 215}, {248, 248, 248}, {225, 130, 105}, {140, 20, 40}}};

// Interpolates evenly spaced colours; `at` is from 0 to 1.
template <std::size_t N>
rgb blend(const std::array<rgb, N>& stops, double at) {
  const double place = std::clamp(at, 0.0, 1.0) * (N - 1);
  const auto i = std::min(static_cast<std::size_t>(place), N - 2);
  const double part = place - static_cast<double>(i);
  const rgb &a = stops[i], &b = stops[i + 1];
  return {std::lerp(a.red, b.red, part), std::lerp(a.green, b.green, part),
          std::lerp(a.blue, b.blue, part)};
}

// Maps values to colours.
class palette {
 public:
  palette(const std::vector<double>& numbers, colours kind);

  rgb operator()(double x) const;
  // The values of the first and the last colour; equal where all finite values are equal or there
  // is none.
  double least() const { return least_; }
  double greatest() const { return greatest_; }

 private:
  colours kind_;
  double least_ = 0, greatest_ = 0;
};

palette::palette(const std::vector<double>& numbers, colours kind) : kind_(kind) {
  bool first = true;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    least_ = first ? x : std::min(least_, x);
    greatest_ = first ? x : std::max(greatest_, x);
    first = false;
  }
  if (kind == colours::diverging) {
    greatest_ = std::max(std::abs(least_), std::abs(greatest_));
    least_ = -greatest_;
  }
}

rgb palette::operator()(double x) const {
  if (std::isnan(x)) return {128, 128, 128};
  const double span = greatest_ - least_;
  const double at = span > 0 ? (x - least_) / span : 0.5;
  return kind_ == colours::diverging ? blend(blue_to_red, at) : blend(dark_to_light, at);
}

double greatest_width(const canvas& on, const std::vector<std::string>& labels) {
  double greatest = 0;
  for (const std::string& l : labels) greatest = std::max(greatest, on.width(l));
  return greatest;
}

// The number of cells from one label to the next, where a label needs `room`.
std::size_t every(double room, double cell) {
  return room <= cell ? 1 : static_cast<std::size_t>(round_step(room / cell));
}

// Lines may touch each other; words are separated by a space.
constexpr double line_room = 1.1 * canvas::font_size;
constexpr double space = canvas::font_size / 3;

// Draws the row labels; returns how far they extend to the left.
double label_rows(canvas& on, const std::vector<std::string>& labels, double cell) {
  const std::size_t step = every(line_room, cell);
  for (std::size_t i = 0; i < labels.size(); i += step) {
    const double y = (static_cast<double>(i) + 0.5) * cell;
    on.text(labels[i], {-gap, y}, align::before, align::centred);
  }
  return labels.empty() ? 0 : gap + greatest_width(on, labels);
}

// Draws the column labels; returns how far they extend down.
double label_columns(canvas& on, const std::vector<std::string>& labels, double cell,
                     double bottom) {
  const double widest = greatest_width(on, labels);
  const std::size_t upright = every(widest + space, cell);
  const std::size_t climbing = every(line_room, cell);
  // Vertical text is harder to read, so it must show at least twice as many labels.
  const bool climbs = upright > 2 * climbing;
  for (std::size_t i = 0; i < labels.size(); i += climbs ? climbing : upright) {
    const double x = (static_cast<double>(i) + 0.5) * cell;
    if (climbs)
      on.climbing_text(labels[i], {x, bottom + gap}, align::before, align::centred);
    else
      on.text(labels[i], {x, bottom + gap}, align::centred, align::after);
  }
  return labels.empty() ? 0 : gap + (climbs ? widest : on.line_height());
}

// With the greatest value on top.
void draw_colour_bar(canvas& on, const palette& colour, place corner, double height) {
  constexpr double width = 12;
  const double span = colour.greatest() - colour.least();
  std::vector<rgb> shades;
  for (double y = 0; y < height; ++y)
    shades.push_back(colour(colour.greatest() - (y + 0.5) / height * span));
  on.cells(corner, width, 1, 1, shades);
  const double most = std::min(height / on.line_height(), 8.0);
  for (const tick& t : ticks(colour.least(), colour.greatest(), most)) {
    // If all values are equal there is one colour.
    const double part = span > 0 ? (colour.greatest() - t.at) / span : 0.5;
    const double y = corner.y + part * height;
    on.text(t.label, {corner.x + width + gap, y}, align::after, align::centred);
  }
}

void check(const grid& numbers, const heat_map_options& options) {
  if (options.cell == 0 || options.scale == 0)
    detail::raise("heat map: cells of " + std::to_string(options.cell) + " units of " +
                  std::to_string(options.scale) + " pixels");
  const auto labels = [](const std::string& of, std::size_t are, std::size_t needed) {
    if (are != 0 && are != needed)
      detail::raise("heat map: " + std::to_string(are) + " labels for " + std::to_string(needed) +
                    " " + of);
  };
  labels("rows", options.rows.size(), numbers.rows());
  labels("columns", options.columns.size(), numbers.columns());
}

}  // namespace

picture heat_map(const grid& numbers, const heat_map_options& options) {
  check(numbers, options);
  const palette colour(numbers.numbers(), options.palette);
  std::vector<rgb> colours;
  colours.reserve(numbers.numbers().size());
  for (const double x : numbers.numbers()) colours.push_back(colour(x));

  canvas on;
  const auto cell = static_cast<double>(options.cell);
  area a{.width = cell * static_cast<double>(numbers.columns()),
         .height = cell * static_cast<double>(numbers.rows())};
  on.cells({0, 0}, cell, cell, numbers.columns(), colours);
  a.left = label_rows(on, options.rows, cell);
  a.below = label_columns(on, options.columns, cell, a.height);
  if (options.colour_bar) {
    // At least as high as its labels need.
    const double height = std::max(a.height, std::round(5 * on.line_height()));
    const double beyond = std::round((height - a.height) / 2);
    draw_colour_bar(on, colour, {a.width + 2 * gap, -beyond}, height);
    a.above = beyond;
    a.below = std::max(a.below, beyond);
  }
  draw_titles(on, a, options.title, options.down, options.across);

  const bool bare = options.title.empty() && options.down.empty() && options.across.empty() &&
                    options.rows.empty() && options.columns.empty() && !options.colour_bar;
  return on.finish(bare ? 0 : 2 * gap, options.scale);
}

}  // namespace weft
