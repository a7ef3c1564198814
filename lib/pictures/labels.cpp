#include "weft/pictures/labels.hpp"

#include "text.hpp"

namespace weft {

std::vector<std::string> indices(std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> labels;
  for (const code_point& c : code_points(text)) labels.emplace_back(c.bytes);
  return labels;
}

}  // namespace weft
