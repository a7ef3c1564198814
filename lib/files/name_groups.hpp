// Summaries of long lists of names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::detail {

// A name such as "layer.0.attn.wq", and what is wrong with it.
struct remark {
  std::string name, what;
};

// Returns at most `lines` lines. Groups of names that differ only in their first number and have
// the same remarks share a line: "layer.6 to layer.11, each of 21 parameters: attn.wq, ...; and 19
// more". `word` is what the names are called, such as "parameters". If the lines do not suffice,
// the last one counts the remaining names.
std::vector<std::string> grouped(const std::vector<remark>& remarks, std::string_view word,
                                 std::size_t lines);

}  // namespace weft::detail
