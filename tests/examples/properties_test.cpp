// The findings of examples/positions --properties.
#include "examples/positions/properties.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

using positions::finding;

namespace {

std::string shown(const positions::properties& p) {
  std::string all;
  for (const finding f : p.found) all += f == finding::yes ? 'y' : f == finding::no ? 'n' : '-';
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(properties_of_encodings)

BOOST_AUTO_TEST_CASE(encodings_have_their_properties) {
  struct {
    std::string_view encoding, found;
  } constexpr expected[]{
      // unique, bounded, deterministic, distances, beyond, offset, projection
      {"none", "nyyyny-"},       {"index", "ynyyynn"},          {"index/length", "yyynynn"},
      {"sinusoidal", "yyyyyny"}, {"learned", "yyyynnn"},        {"learned-sinusoidal", "yyyyyny"},
      {"fourier", "yyyyynn"},    {"shaw", "yyyyyy-"},           {"transformer-xl", "yyyyyy-"},
      {"t5", "yyyyyy-"},         {"alibi", "ynyyyy-"},          {"learned-alibi", "ynyyyy-"},
      {"rotary", "yyyyyyy"},     {"learned-rotary", "yyyyyyy"}, {"xpos", "yyyyyyn"},
      {"fire", "yyyyyy-"},       {"cope", "nyyyny-"},           {"forgetting", "ynyyyy-"}};
  const auto all = positions::properties_of_encodings();
  BOOST_TEST_REQUIRE(all.size() == std::size(expected));
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(all[i].encoding == expected[i].encoding);
    BOOST_TEST(shown(all[i]) == expected[i].found, all[i].encoding << ": " << shown(all[i]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
