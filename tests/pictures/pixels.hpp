// A picture's pixels, read back by libpng.
#pragma once

#include <png.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "weft/pictures/picture.hpp"

namespace weft {

struct pixels {
  std::size_t width = 0, height = 0;
  std::vector<png_byte> bytes;

  explicit pixels(const picture& p) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    BOOST_TEST_REQUIRE(png_image_begin_read_from_memory(&image, p.png.data(), p.png.size()) != 0,
                       image.message);
    image.format = PNG_FORMAT_RGB;
    width = image.width;
    height = image.height;
    bytes.resize(PNG_IMAGE_SIZE(image));
    BOOST_TEST_REQUIRE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr) != 0);
    BOOST_TEST(p.width == width);
    BOOST_TEST(p.height == height);
  }

  std::array<int, 3> at(std::size_t x, std::size_t y) const {
    const std::size_t i = (y * width + x) * 3;
    return {bytes[i], bytes[i + 1], bytes[i + 2]};
  }
  int sum(std::size_t x, std::size_t y) const {
    const auto [red, green, blue] = at(x, y);
    return red + green + blue;
  }
  bool white(std::size_t x, std::size_t y) const { return sum(x, y) == 3 * 255; }
  // The number of pixels in a rectangle that are not white.
  std::size_t not_white(std::size_t left, std::size_t top, std::size_t right,
                        std::size_t bottom) const {
    std::size_t count = 0;
    for (std::size_t y = top; y < bottom; ++y)
      for (std::size_t x = left; x < right; ++x) count += !white(x, y);
    return count;
  }
};

}  // namespace weft
