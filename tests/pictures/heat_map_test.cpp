#include "weft/pictures/heat_map.hpp"

#include <filesystem>
#include <limits>
#include <string>

#include "pixels.hpp"
#include "support/thrown_by.hpp"
#include "weft/pictures/labels.hpp"
#include "weft/run/error.hpp"

namespace weft {
namespace {

struct Down : axis<2> {};
struct Across : axis<3> {};

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The colour of the smallest value; nothing but cells is drawn with it.
constexpr std::array<int, 3> least_colour{24, 15, 62};

// The rectangle of the cells of a map whose values are all the smallest but the last, which is the
// greatest.
struct found_cells {
  std::size_t left, top, right = 0, bottom = 0;
  explicit found_cells(const pixels& p) : left(p.width), top(p.height) {
    for (std::size_t y = 0; y < p.height; ++y)
      for (std::size_t x = 0; x < p.width; ++x)
        if (p.at(x, y) == least_colour) {
          left = std::min(left, x);
          top = std::min(top, y);
          right = std::max(right, x + 1);
          bottom = std::max(bottom, y + 1);
        }
  }
};

grid ramp(std::size_t rows, std::size_t columns) {
  std::vector<double> numbers(rows * columns);
  numbers.back() = 1;
  return {numbers, rows, columns};
}

// The number of separate runs of pixel rows in which something is drawn between two columns.
std::size_t stretches_down(const pixels& p, std::size_t left, std::size_t right) {
  std::size_t count = 0;
  bool inside = false;
  for (std::size_t y = 0; y < p.height; ++y) {
    const bool drawn = p.not_white(left, y, right, y + 1) > 0;
    count += drawn && !inside;
    inside = drawn;
  }
  return count;
}

std::size_t stretches_across(const pixels& p, std::size_t top, std::size_t bottom) {
  std::size_t count = 0;
  bool inside = false;
  for (std::size_t x = 0; x < p.width; ++x) {
    const bool drawn = p.not_white(x, top, x + 1, bottom) > 0;
    count += drawn && !inside;
    inside = drawn;
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(heat_maps)

BOOST_AUTO_TEST_CASE(a_value_is_a_square_of_pixels_at_its_indices) {
  const float nan_here = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 6> numbers{0, 1, 2, 3, 4, nan_here};
  const view<const float, shape<Down, Across>> x(numbers.data());
  const pixels p(heat_map(x, {.cell = 5}));
  BOOST_TEST(p.width == 15u);
  BOOST_TEST(p.height == 10u);
  // Brightness grows with the value, along rows and columns.
  for (std::size_t i = 0; i + 1 < 5; ++i)
    BOOST_TEST(p.sum(i % 3 * 5 + 2, i / 3 * 5 + 2) <
               p.sum((i + 1) % 3 * 5 + 2, (i + 1) / 3 * 5 + 2));
  BOOST_TEST(p.at(10, 5) == (std::array{128, 128, 128}), boost::test_tools::per_element());
  BOOST_TEST(p.at(14, 9) == p.at(10, 5), boost::test_tools::per_element());
  BOOST_TEST(p.at(9, 5) != p.at(10, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(strided_and_one_dimensional_operands_are_drawn_as_dense_ones) {
  const std::array<float, 6> by_columns{0, 3, 1, 4, 2, 5};
  const view<const float, shape<Down, Across>> turned(by_columns.data(), {2, 3}, {1, 2});
  BOOST_TEST(heat_map(turned).png == heat_map(grid({0, 1, 2, 3, 4, 5}, 2, 3)).png);
  BOOST_TEST(heat_map(turned.at<Down>(1)).png == heat_map(grid({3, 4, 5}, 1, 3)).png);
  array<bool, Across> flags;
  flags(2) = true;
  BOOST_TEST(heat_map(flags).png == heat_map(grid({0, 0, 1}, 1, 3)).png);
}

BOOST_AUTO_TEST_CASE(diverging_colours_are_white_at_zero_and_symmetric_about_it) {
  const pixels p(heat_map(grid({-1, 0, 2}, 1, 3), {.palette = colours::diverging, .cell = 1}));
  BOOST_TEST(p.sum(1, 0) == 3 * 248);
  BOOST_TEST(p.at(0, 0)[2] > p.at(0, 0)[0]);  // blue
  BOOST_TEST(p.at(2, 0)[0] > p.at(2, 0)[2]);  // red
  BOOST_TEST(p.sum(2, 0) < p.sum(0, 0));      // -1 is half as far from zero
}

BOOST_AUTO_TEST_CASE(the_scale_is_the_number_of_pixels_per_unit) {
  const pixels p(heat_map(ramp(2, 3), {.cell = 5, .scale = 3}));
  BOOST_TEST(p.width == 45u);
  BOOST_TEST(p.height == 30u);
  BOOST_TEST(p.at(29, 29) == least_colour, boost::test_tools::per_element());
  BOOST_TEST(p.at(30, 15) != least_colour, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(texts_are_drawn_around_the_cells_and_not_over_them) {
  const heat_map_options bare{.cell = 10};
  struct {
    heat_map_options options;
    const char* where;
  } const cases[]{
      {{.cell = 10, .title = "title"}, "above"},      {{.cell = 10, .down = "down"}, "left"},
      {{.cell = 10, .across = "across"}, "below"},    {{.cell = 10, .rows = indices(8)}, "left"},
      {{.cell = 10, .columns = indices(9)}, "below"}, {{.cell = 10, .colour_bar = true}, "right"}};
  for (const auto& [options, where] : cases) {
    const pixels p(heat_map(ramp(8, 9), options));
    const found_cells cells(p);
    const std::size_t beside = cells.left + 90;
    const std::size_t above = p.not_white(0, 0, beside, cells.top);
    const std::size_t left = p.not_white(0, cells.top, cells.left, cells.top + 80);
    const std::size_t below = p.not_white(0, cells.top + 80, beside, p.height);
    const std::size_t right = p.not_white(beside, 0, p.width, p.height);
    BOOST_TEST_CONTEXT(where) {
      BOOST_TEST((above > 0) == (where == std::string("above")));
      BOOST_TEST((left > 0) == (where == std::string("left")));
      BOOST_TEST((below > 0) == (where == std::string("below")));
      BOOST_TEST((right > 0) == (where == std::string("right")));
      // All cells but the last must still have one colour.
      for (std::size_t y = 0; y < 80; ++y)
        for (std::size_t x = 0; x < 90; ++x)
          if ((y < 70 || x < 80) && p.at(cells.left + x, cells.top + y) != least_colour)
            BOOST_ERROR("a cell is drawn over at " << x << ", " << y);
    }
  }
}

BOOST_AUTO_TEST_CASE(labels_are_drawn_at_their_row_and_column) {
  std::vector<std::string> rows(6), columns(6);
  rows[1] = columns[4] = "M";
  const pixels p(heat_map(ramp(6, 6), {.cell = 20, .rows = rows, .columns = columns}));
  const found_cells cells(p);
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t left =
        p.not_white(0, cells.top + i * 20, cells.left - 4, cells.top + (i + 1) * 20);
    const std::size_t below =
        p.not_white(cells.left + i * 20, cells.top + 124, cells.left + (i + 1) * 20, p.height);
    BOOST_TEST((left > 0) == (i == 1));
    BOOST_TEST((below > 0) == (i == 4));
  }
}

BOOST_AUTO_TEST_CASE(labels_that_would_overlap_are_thinned_out) {
  // A label of a line of text is between 10 and 20 units high.
  for (const std::size_t count : {2u, 7u, 50u, 400u}) {
    const std::vector<std::string> labels(count, "M");
    const pixels p(heat_map(ramp(count, count), {.cell = 4, .rows = labels}));
    const found_cells cells(p);
    const std::size_t drawn = stretches_down(p, 0, cells.left - 4);
    BOOST_TEST(drawn <= count * 4 / 10 + 1);
    BOOST_TEST(drawn >= count * 4 / 20);
    BOOST_TEST(drawn >= 1u);

    const std::vector<std::string> words(count, "MMMMMM");
    const pixels q(heat_map(ramp(count, count), {.cell = 4, .columns = words}));
    const std::size_t climbing = stretches_across(q, found_cells(q).top + count * 4 + 4, q.height);
    BOOST_TEST(climbing <= count * 4 / 10 + 1);
    BOOST_TEST(climbing >= count * 4 / 20);
    BOOST_TEST(climbing >= 1u);
  }
}

BOOST_AUTO_TEST_CASE(maps_of_one_cell_row_or_column_have_all_their_texts) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{1, 9}, std::pair{9, 1}}) {
    const auto r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns);
    const pixels p(heat_map(ramp(r, c), {.cell = 10,
                                         .title = "A title that is long",
                                         .down = "what goes down",
                                         .across = "what goes across",
                                         .rows = indices(r),
                                         .columns = indices(c),
                                         .colour_bar = true}));
    // Nothing is cut off at the edges.
    BOOST_TEST(p.not_white(0, 0, p.width, 10) == 0u);
    BOOST_TEST(p.not_white(0, p.height - 10, p.width, p.height) == 0u);
    BOOST_TEST(p.not_white(0, 0, 10, p.height) == 0u);
    BOOST_TEST(p.not_white(p.width - 10, 0, p.width, p.height) == 0u);
    BOOST_TEST(p.not_white(10, 10, p.width - 10, p.height - 10) > 0u);
  }
}

BOOST_AUTO_TEST_CASE(equal_infinite_and_nan_values_are_drawn) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, -3.5, 1e30, nan, infinity, -infinity})
    for (const colours palette : {colours::sequential, colours::diverging}) {
      const heat_map_options options{.palette = palette, .cell = 10, .colour_bar = true};
      const pixels p(heat_map(grid({x, x}, 1, 2), options));
      // Two cells, and a bar that is 12 wide and not lower than five lines of text.
      BOOST_TEST(p.not_white(0, 0, p.width, p.height) > 2u * 10 * 10 + 12 * 5 * 10);
    }
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_drawn_as_a_replacement_character) {
  const auto with_title = [](std::string title) {
    return heat_map(ramp(2, 2), {.title = std::move(title)}).png;
  };
  BOOST_TEST(with_title("a\xff") == with_title("a\uFFFD"));
  BOOST_TEST(with_title("\xc3") == with_title("\uFFFD"));
  BOOST_TEST(with_title(std::string("\0", 1)) == with_title("\uFFFD"));
  BOOST_TEST(with_title("é") != with_title("e"));
}

BOOST_AUTO_TEST_CASE(wrong_sizes_and_unwritable_paths_are_errors) {
  BOOST_CHECK_THROW(grid({}, 0, 3), error);
  BOOST_CHECK_THROW(grid({1, 2}, 1, 3), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2), {.cell = 0}), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2), {.scale = 0}), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2), {.cell = 20000}), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2), {.rows = indices(3)}), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2), {.columns = indices(1)}), error);
  BOOST_CHECK_THROW(heat_map(ramp(2, 2)).save("/no/such/folder/x.png"), error);
  testing::refuses([] { heat_map(ramp(2, 2)).save("x.svg"); }, "name it with .png instead of .svg");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace weft
