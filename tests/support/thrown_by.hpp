#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "weft/run/error.hpp"

namespace weft::testing {

// The message of the error that f throws; empty if it throws none.
template <class F>
std::string thrown_by(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

// Checks that a text has a sentence, as the message of the error that f throws.
inline void says(std::string_view text, std::string_view sentence) {
  BOOST_TEST(text.find(sentence) != text.npos, text << "\ndoes not say: " << sentence);
}
template <class F>
void refuses(F f, std::string_view sentence) {
  says(thrown_by(f), sentence);
}

}  // namespace weft::testing
