// Properties of position encodings, each determined numerically.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace positions {

enum class finding { no, yes, none };  // none: does not apply

inline constexpr std::array<std::string_view, 7> property_names{
    "unique", "bounded", "deterministic", "distances", "beyond", "offset", "projection"};

// In the order of property_names. All words of a text are the same, so that scores depend on
// positions alone; vectors are what is added to the embedding or, if nothing is, the rotated query.
//   unique         no two positions of a text of the trained length have equal scores
//   bounded        in a text of 8 times that length vectors, or scores if there are none, are at
//                  most twice as large
//   deterministic  another module's run gives the same bits
//   distances      in a text of another length, the distance of two positions' vectors and their
//                  score are the same
//   beyond         no two positions of a text of twice the trained length have equal scores
//   offset         a score depends only on the distance of its positions
//   projection     one rotation of each pair of elements, by δω, maps the vector of every position
//                  to that of the position δ later
struct properties {
  std::string_view encoding;
  std::array<finding, property_names.size()> found;
};

// The properties of each encoding with its initial parameters.
std::vector<properties> properties_of_encodings();

}  // namespace positions
