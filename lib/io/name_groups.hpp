// Long lists of names in few lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::detail {

// A name, as "layer.0.attn.wq", and what is said of it.
struct remark {
  std::string name, what;
};

// At most so many lines. Names whose first number alone tells them apart, and of which the same is
// said, are one: "layer.6 to layer.11, each of 21 parameters: attn.wq, ...; and 19 more"; what they
// are is a word, as "parameters". The last line counts those for which there is no room.
std::vector<std::string> grouped(const std::vector<remark>& remarks, std::string_view word,
                                 std::size_t lines);

}  // namespace weft::detail
