#include "palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

}  // namespace

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

}  // namespace weft
