#include "weft/pictures/line_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "canvas.hpp"
#include "chart.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

// Distinguishable with colour blindness too: Okabe and Ito, "Color Universal Design", 2008.
constexpr std::array<rgb, 6> hues{
    {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233}, {230, 159, 0}}};

rgb hue(std::size_t i) {
  return hues[i % hues.size()];
}

// When the colours repeat, lines are dashed.
std::vector<double> dashes(std::size_t i) {
  const auto length = static_cast<double>(3 * (i / hues.size()));
  return length == 0 ? std::vector<double>{} : std::vector<double>{length, 5};
}

struct range {
  double from = std::numeric_limits<double>::max();
  double to = std::numeric_limits<double>::lowest();

  void include(double x) {
    from = std::min(from, x);
    to = std::max(to, x);
  }
  // Maps x to a coordinate along an edge of this length.
  double at(double x, double edge) const { return (x - from) / (to - from) * edge; }
  // Padded at both ends; a range of one value becomes one around it.
  range widened(double part) const {
    const double by = to > from ? (to - from) * part : std::max(1.0, std::abs(from)) * 0.5;
    return {from - by, to + by};
  }
};

class plot {
 public:
  plot(const std::vector<line>& lines, const line_chart_options& options)
      : lines_(lines),
        options_(options),
        width_(static_cast<double>(options.width)),
        height_(static_cast<double>(options.height)) {
    for (const line& l : lines)
      for (std::size_t i = 0; i < l.values.size(); ++i)
        if (std::isfinite(l.values[i])) {
          across_.include(index(i));
          down_.include(l.values[i]);
        }
    if (across_.from > across_.to) detail::raise("line chart: there is no value");
    across_ = across_.widened(0);
    down_ = down_.widened(0.05);
  }

  picture draw() {
    area a{.width = width_, .height = height_};
    a.left = mark_values();
    a.below = mark_index();
    for (std::size_t i = 0; i < lines_.size(); ++i) draw_line(i);
    draw_legend();
    draw_titles(on_, a, options_.title, options_.down, options_.across);
    return on_.finish(2 * gap, options_.scale);
  }

 private:
  double index(std::size_t i) const {
    return options_.first + static_cast<double>(i) * options_.step;
  }

  // Draw grid lines and labels; return how far the labels extend beyond the edge.
  double mark_values() {
    double widest = 0;
    for (const tick& t : ticks(down_.from, down_.to, height_ / (3 * on_.line_height()))) {
      const double y = height_ - down_.at(t.at, height_);
      on_.line({{0, y}, {width_, y}}, pale, 1);
      on_.text(t.label, {-gap, y}, align::before, align::centred);
      widest = std::max(widest, on_.width(t.label));
    }
    return gap + widest;
  }
  double mark_index() {
    for (const tick& t : ticks(across_.from, across_.to, width_ / 60, options_.step)) {
      const double x = across_.at(t.at, width_);
      on_.line({{x, 0}, {x, height_}}, pale, 1);
      on_.text(t.label, {x, height_ + gap}, align::centred, align::after);
    }
    return gap + on_.line_height();
  }

  void draw_line(std::size_t i) {
    std::vector<place> run;
    const auto end_run = [&] {
      if (!run.empty()) on_.line(run, hue(i), run.size() == 1 ? 4 : 1.75, dashes(i));
      run.clear();
    };
    const std::vector<double>& values = lines_[i].values;
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (!std::isfinite(values[v]))
        end_run();
      else
        run.push_back({across_.at(index(v), width_), height_ - down_.at(values[v], height_)});
    }
    end_run();
  }

  // At the right, one entry below the other.
  void draw_legend() {
    const double x = width_ + 2 * gap;
    double y = on_.line_height() / 2;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].name.empty()) continue;
      on_.line({{x, y}, {x + 24, y}}, hue(i), 1.75, dashes(i));
      on_.text(lines_[i].name, {x + 24 + gap, y}, align::after, align::centred);
      y += 1.5 * on_.line_height();
    }
  }

  const std::vector<line>& lines_;
  const line_chart_options& options_;
  double width_, height_;
  range across_, down_;
  canvas on_;
};

void check(const line_chart_options& options) {
  if (options.width == 0 || options.height == 0 || options.scale == 0 || !(options.step > 0))
    detail::raise("line chart: " + std::to_string(options.width) + " × " +
                  std::to_string(options.height) + " units of " + std::to_string(options.scale) +
                  " pixels, a step of " + std::to_string(options.step));
}

}  // namespace

picture line_chart(const std::vector<line>& lines, const line_chart_options& options) {
  check(options);
  return plot(lines, options).draw();
}

}  // namespace weft
