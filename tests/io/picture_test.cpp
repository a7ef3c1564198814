#include "weft/io/picture.hpp"

#include <png.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <limits>
#include <string>

#include "weft/run/error.hpp"

namespace {

struct Down : weft::axis<2> {};
struct Across : weft::axis<3> {};

struct picture {
  std::size_t width = 0, height = 0;
  std::vector<png_byte> pixels;
  std::array<int, 3> at(std::size_t x, std::size_t y) const {
    std::size_t const i = (y * width + x) * 3;
    return {pixels[i], pixels[i + 1], pixels[i + 2]};
  }
};

picture read(const std::string& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  BOOST_TEST_REQUIRE(png_image_begin_read_from_file(&image, file.c_str()) != 0, image.message);
  image.format = PNG_FORMAT_RGB;
  picture p{image.width, image.height, std::vector<png_byte>(PNG_IMAGE_SIZE(image))};
  BOOST_TEST_REQUIRE(png_image_finish_read(&image, nullptr, p.pixels.data(), 0, nullptr) != 0);
  return p;
}

std::string file() {
  return (std::filesystem::temp_directory_path() / "weft_picture_test.png").string();
}

int sum(const std::array<int, 3>& colour) {
  return colour[0] + colour[1] + colour[2];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(heat_maps)

BOOST_AUTO_TEST_CASE(a_number_is_a_square_of_pixels_where_its_indices_say) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::array<float, 6> const numbers{0, 1, 2, 3, 4, nan};
  weft::view<const float, weft::shape<Down, Across>> const x(numbers.data());
  weft::write_heat_map(file(), x, {.cell = 5});
  picture const p = read(file());
  BOOST_TEST(p.width == 15u);
  BOOST_TEST(p.height == 10u);
  // Light grows with the number, down and across.
  for (std::size_t i = 0; i + 1 < 5; ++i)
    BOOST_TEST(sum(p.at(i % 3 * 5 + 2, i / 3 * 5 + 2)) <
               sum(p.at((i + 1) % 3 * 5 + 2, (i + 1) / 3 * 5 + 2)));
  BOOST_TEST(p.at(10, 5) == (std::array{128, 128, 128}), boost::test_tools::per_element());
  BOOST_TEST(p.at(14, 9) == p.at(10, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(diverging_colours_are_white_at_zero_and_even_to_both_sides) {
  weft::write_heat_map(file(), {-1, 0, 2}, 1, 3, {.palette = weft::colours::diverging, .cell = 1});
  picture const p = read(file());
  BOOST_TEST(sum(p.at(1, 0)) == 3 * 248);
  BOOST_TEST(p.at(0, 0)[2] > p.at(0, 0)[0]);      // blue
  BOOST_TEST(p.at(2, 0)[0] > p.at(2, 0)[2]);      // red
  BOOST_TEST(sum(p.at(2, 0)) < sum(p.at(0, 0)));  // -1 is half as far from zero
}

BOOST_AUTO_TEST_CASE(nothing_to_draw_and_no_place_to_write_are_errors) {
  BOOST_CHECK_THROW(weft::write_heat_map(file(), {}, 0, 3), weft::error);
  BOOST_CHECK_THROW(weft::write_heat_map(file(), {1, 2}, 1, 3), weft::error);
  BOOST_CHECK_THROW(weft::write_heat_map("/no/such/folder/x.png", {1}, 1, 1), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
