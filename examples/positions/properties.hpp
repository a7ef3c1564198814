// What can be said of encodings of positions, each found by computing it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace positions {

enum class finding { no, yes, none };  // none: there is nothing that it could be said of

inline constexpr std::array<std::string_view, 7> property_names{
    "unique", "bounded", "deterministic", "distances", "beyond", "offset", "projection"};

// In the order of property_names. All words of a text are the same, so that a score says what is
// known of positions alone; vectors are what is added to the embedding, or else the turned query.
//   unique         no two positions of a text as long as those trained have equal scores
//   bounded        in a text of 8 times that length vectors, or scores where there are none, are at
//                  most twice as large
//   deterministic  another run, of a module of its own, gives the same bits
//   distances      in a text of another length the vectors of two positions are as far apart, and
//                  their score is the same
//   beyond         no two positions of a text twice as long as those trained have equal scores
//   offset         a score depends on the distance of its positions alone
//   projection     one turn of each pair of numbers, by δω, takes the vector of every position to
//                  that of the position δ later
struct properties {
  std::string_view encoding;
  std::array<finding, property_names.size()> found;
};

// Of each encoding, as it begins to learn.
std::vector<properties> properties_of_encodings();

}  // namespace positions
