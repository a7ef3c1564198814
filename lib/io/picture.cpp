#include "weft/io/picture.hpp"

#include <png.h>

#include <array>
#include <cmath>
#include <limits>

#include "weft/run/error.hpp"

namespace weft {

namespace {

using colour = std::array<double, 3>;

// Between evenly spaced colours, at a place from 0 to 1.
template <std::size_t N>
colour blend(const std::array<colour, N>& stops, double at) {
  double const place = std::clamp(at, 0.0, 1.0) * (N - 1);
  auto const i = std::min(static_cast<std::size_t>(place), N - 2);
  double const part = place - static_cast<double>(i);
  colour c{};
  for (std::size_t k = 0; k < c.size(); ++k)
    c[k] = stops[i][k] * (1 - part) + stops[i + 1][k] * part;
  return c;
}

// Both grow evenly in lightness, so they read in grey too.
constexpr std::array<colour, 5> dark_to_light{
    {{24, 15, 62}, {86, 30, 110}, {165, 52, 96}, {229, 105, 53}, {250, 235, 160}}};
constexpr std::array<colour, 5> blue_to_red{
    {{20, 60, 140}, {110, 160, 215}, {248, 248, 248}, {225, 130, 105}, {140, 20, 40}}};

class painter {
 public:
  painter(const std::vector<float>& numbers, colours palette) : palette_(palette) {
    for (float const x : numbers) {
      if (!std::isfinite(x)) continue;
      least_ = std::min(least_, static_cast<double>(x));
      greatest_ = std::max(greatest_, static_cast<double>(x));
    }
    if (palette == colours::diverging) {
      greatest_ = std::max(std::abs(least_), std::abs(greatest_));
      least_ = -greatest_;
    }
  }
  colour operator()(float x) const {
    if (std::isnan(x)) return {128, 128, 128};
    double const span = greatest_ - least_;
    double const at = span > 0 ? (static_cast<double>(x) - least_) / span : 0.5;
    return palette_ == colours::diverging ? blend(blue_to_red, at) : blend(dark_to_light, at);
  }

 private:
  colours palette_;
  double least_ = std::numeric_limits<double>::max();
  double greatest_ = std::numeric_limits<double>::lowest();
};

}  // namespace

void write_heat_map(const std::string& file, const std::vector<float>& numbers, std::size_t rows,
                    std::size_t columns, const heat_map& options) {
  if (rows == 0 || columns == 0 || numbers.size() != rows * columns || options.cell == 0)
    throw error("picture " + file + ": " + std::to_string(numbers.size()) + " numbers for " +
                std::to_string(rows) + " rows of " + std::to_string(columns) + " cells of " +
                std::to_string(options.cell) + " pixels");
  painter const paint(numbers, options.palette);
  std::size_t const width = columns * options.cell;
  std::size_t const height = rows * options.cell;
  std::vector<png_byte> pixels;
  pixels.reserve(width * height * 3);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (double const part : paint(numbers[y / options.cell * columns + x / options.cell]))
        pixels.push_back(static_cast<png_byte>(std::lround(part)));

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw error("picture " + file + ": " + image.message);
}

}  // namespace weft
