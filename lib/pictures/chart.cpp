#include "chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "canvas.hpp"

namespace weft {

namespace {

std::string text(const char* format, int digits, double x) {
  std::array<char, 64> result{};
  std::snprintf(result.data(), result.size(), format, digits, x);
  return result.data();
}

// Formats a multiple of a step with the digits that distinguish it from its neighbours.
std::string label(double at, double step, double greatest) {
  const double exponent = std::floor(std::log10(step) + 1e-9);
  if (greatest < 1e6 && exponent > -6)
    return text("%.*f", static_cast<int>(std::max(0.0, -exponent)), at);
  const double digits = std::floor(std::log10(greatest)) - exponent + 1;
  return text("%.*g", static_cast<int>(std::clamp(digits, 1.0, 17.0)), at);
}

}  // namespace

double round_step(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  // Tolerates rounding errors in a step that is round already.
  for (const double digit : {1.0, 2.0, 5.0})
    if (x <= digit * power * (1 + 1e-9)) return digit * power;
  return 10 * power;
}

std::vector<tick> ticks(double from, double to, double count, double least_step) {
  if (from == to) return {{from, text("%.*g", 4, from)}};
  const double step = round_step(std::max((to - from) / count, least_step));
  const double first = std::ceil(from / step - 1e-9);
  const double last = std::floor(to / step + 1e-9);
  const double greatest = std::max(std::abs(from), std::abs(to));
  std::vector<tick> all;
  for (double i = 0; i <= last - first; ++i) {
    const double at = (first + i) * step + 0.0;  // never -0
    all.push_back({at, label(at, step, greatest)});
  }
  return all;
}

void draw_titles(canvas& on, const area& a, const std::string& title, const std::string& down,
                 const std::string& across) {
  // A vertical title longer than the area's height pushes the others outwards.
  const double beyond = (on.width(down) - a.height) / 2;
  on.text(title, {a.width / 2, -gap - std::max(a.above, beyond)}, align::centred, align::before);
  on.climbing_text(down, {-a.left - gap, a.height / 2}, align::centred, align::before);
  on.text(across, {a.width / 2, a.height + gap + std::max(a.below, beyond)}, align::centred,
          align::after);
}

}  // namespace weft
