#include "weft/pictures/labels.hpp"

#include <boost/test/unit_test.hpp>

using labels = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(labels_of_axes)

BOOST_AUTO_TEST_CASE(indices_count_from_zero) {
  BOOST_TEST(weft::indices(0).empty());
  BOOST_TEST(weft::indices(3) == (labels{"0", "1", "2"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(characters_are_code_points) {
  BOOST_TEST(weft::characters("").empty());
  BOOST_TEST(weft::characters("aé中😀") == (labels{"a", "é", "中", "😀"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_byte_that_is_not_utf8_is_a_label_of_its_own) {
  BOOST_TEST(weft::characters("\xc3"
                              "A\xe4\xb8") == (labels{"\xc3", "A", "\xe4", "\xb8"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
