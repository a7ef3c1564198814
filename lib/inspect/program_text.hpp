// What explain and profile print of a program.
#pragma once

#include <string>
#include <vector>

#include "weft/graph/compact_graph.hpp"
#include "weft/lower/program.hpp"

namespace weft::detail {

struct instruction_text {
  std::string before;     // the line at the beginning of a scan, before its first instruction
  std::string operation;  // "%5 = dot over [Embed] (x, wq)"
  std::string axes;       // of the result: "[Pos, Heads]"
  std::string after;      // the line at the end of a scan, after its last instruction
};
std::vector<instruction_text> instruction_texts(const program& p, const graph_parts& g);

// 1234567 as 1.23 M.
std::string short_number(double x);

}  // namespace weft::detail
