#include "pictures/chart.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

namespace weft {
namespace {

std::vector<std::string> labels(const std::vector<tick>& all) {
  std::vector<std::string> result;
  for (const tick& t : all) result.push_back(t.label);
  return result;
}

using words = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(ticks_of_axes)

BOOST_AUTO_TEST_CASE(tick_steps_are_round_and_not_less_than_requested) {
  const double asked[]{0.9, 1, 1.1, 2, 2.1, 5, 5.1, 10, 0.02, 0.021, 3e-7};
  const double round[]{1, 1, 2, 2, 5, 5, 10, 10, 0.02, 0.05, 5e-7};
  for (std::size_t i = 0; i < std::size(asked); ++i)
    BOOST_TEST(round_step(asked[i]) == round[i], boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(labels_have_the_digits_they_need) {
  const auto each = boost::test_tools::per_element();
  BOOST_TEST(labels(ticks(-1, 1, 4)) == (words{"-1.0", "-0.5", "0.0", "0.5", "1.0"}), each);
  BOOST_TEST(labels(ticks(0, 59, 6)) == (words{"0", "10", "20", "30", "40", "50"}), each);
  BOOST_TEST(labels(ticks(0.13, 0.31, 4)) == (words{"0.15", "0.20", "0.25", "0.30"}), each);
  BOOST_TEST(labels(ticks(1e8, 1.2e8, 2)) == (words{"1e+08", "1.1e+08", "1.2e+08"}), each);
}

BOOST_AUTO_TEST_CASE(an_index_has_no_ticks_between_its_values) {
  BOOST_TEST(labels(ticks(0, 2, 8, 1)) == (words{"0", "1", "2"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_single_value_is_its_own_tick) {
  BOOST_TEST(labels(ticks(0.25, 0.25, 4)) == (words{"0.25"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(neighbouring_doubles_and_the_widest_range_have_few_ticks) {
  BOOST_TEST(ticks(1, std::nextafter(1.0, 2.0), 4).size() <= 6u);
  const double most = std::numeric_limits<double>::max() / 4;
  BOOST_TEST(ticks(-most, most, 4).size() <= 6u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace weft
