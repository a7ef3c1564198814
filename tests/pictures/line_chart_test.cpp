#include "weft/pictures/line_chart.hpp"

#include <limits>

#include "pixels.hpp"
#include "weft/run/error.hpp"

namespace weft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool near(const std::array<int, 3>& a, const std::array<int, 3>& b) {
  int distance = 0;
  for (std::size_t i = 0; i < 3; ++i) distance += std::abs(a[i] - b[i]);
  return distance < 30;
}

constexpr std::array<int, 3> first_hue{0, 114, 178};
constexpr std::array<int, 3> second_hue{213, 94, 0};

// The mean height, from the top, of the pixels of one colour, for each column that has some.
std::vector<double> heights(const pixels& p, const std::array<int, 3>& hue) {
  std::vector<double> all;
  for (std::size_t x = 0; x < p.width; ++x) {
    double sum = 0, count = 0;
    for (std::size_t y = 0; y < p.height; ++y)
      if (near(p.at(x, y), hue)) {
        sum += static_cast<double>(y);
        ++count;
      }
    if (count > 0) all.push_back(sum / count);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(line_charts)

BOOST_AUTO_TEST_CASE(a_line_passes_through_its_values) {
  const pixels p(line_chart({{"", {0, 1, 2, 3, 4}}}, {.width = 200, .height = 100, .scale = 4}));
  const auto y = heights(p, first_hue);
  BOOST_TEST_REQUIRE(y.size() > 700u);  // across the whole width
  const double slope = (y.back() - y.front()) / static_cast<double>(y.size());
  // Five hundredths of the height are left free above and below.
  BOOST_TEST(slope == -100 / 1.1 / 200, boost::test_tools::tolerance(0.02));
  for (std::size_t x = 0; x < y.size(); ++x)
    BOOST_TEST(std::abs(y[x] - y.front() - slope * static_cast<double>(x)) < 4);
}

BOOST_AUTO_TEST_CASE(lines_differ_in_colour_and_the_legend_has_their_names) {
  std::vector<line> lines{{"", {1, 2}}, {"", {2, 1, 3}}};
  const pixels bare(line_chart(lines));
  BOOST_TEST(!heights(bare, first_hue).empty());
  BOOST_TEST(!heights(bare, second_hue).empty());
  lines[1].name = "second";
  const pixels named(line_chart(lines));
  BOOST_TEST(named.width > bare.width + 30);
  // The line in the legend is 24 units long, in the colour of the line that it names.
  BOOST_TEST(heights(named, second_hue).size() >= heights(bare, second_hue).size() + 20);
}

BOOST_AUTO_TEST_CASE(more_lines_than_colours_still_differ) {
  std::vector<line> lines(7, {"", {nan}});
  lines[0].values = {1, 1};
  const std::string whole = line_chart(lines).png;
  std::swap(lines[0], lines[6]);
  BOOST_TEST(line_chart(lines).png != whole);
}

BOOST_AUTO_TEST_CASE(values_that_are_not_finite_are_gaps_and_an_isolated_value_is_a_dot) {
  const double infinity = std::numeric_limits<double>::infinity();
  const line_chart_options options{.width = 400, .scale = 4};
  const std::size_t whole =
      heights(pixels(line_chart({{"", {1, 1, 1, 1, 1}}}, options)), first_hue).size();
  for (const double missing : {nan, infinity, -infinity}) {
    const std::size_t broken =
        heights(pixels(line_chart({{"", {1, 1, missing, 1, 1}}}, options)), first_hue).size();
    BOOST_TEST(whole > 1500u);
    BOOST_TEST(broken > whole / 2 - 10);
    BOOST_TEST(broken < whole / 2 + 10);
    const std::size_t dots =
        heights(pixels(line_chart({{"", {1, missing, 1, missing, 1}}}, options)), first_hue).size();
    BOOST_TEST(dots >= 3 * 10u);  // each 4 units across, less at the edges
    BOOST_TEST(dots <= 3 * 16u);
  }
}

BOOST_AUTO_TEST_CASE(a_single_value_and_equal_values_are_drawn) {
  for (const double x : {0.0, -2.5, 1e9})
    for (const std::vector<double>& values : {std::vector{x}, std::vector{x, x, x}})
      BOOST_TEST(!heights(pixels(line_chart({{"", values}}, {.scale = 4})), first_hue).empty());
}

BOOST_AUTO_TEST_CASE(charts_without_values_and_invalid_sizes_are_errors) {
  BOOST_CHECK_THROW(line_chart({}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {}}, {"b", {nan}}}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {1}}}, {.step = 0}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {1}}}, {.width = 0}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {1}}}, {.height = 0}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {1}}}, {.scale = 0}), error);
  BOOST_CHECK_THROW(line_chart({{"a", {1}}}, {.width = 40000}), error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace weft
