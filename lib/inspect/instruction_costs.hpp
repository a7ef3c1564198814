// What explain and profile print of a program, and the costs of its instructions at the lengths of
// a run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "weft/graph/compact_graph.hpp"
#include "weft/lower/program.hpp"
#include "weft/passes/cost.hpp"

namespace weft::detail {

// The cost of each instruction of p, which g was lowered to, in one run with these lengths, one for
// each of p.lengths. A node's cost, as in passes/cost.hpp, is that of the instruction that computes
// it; the copies and zeros beside that one are not counted. A node that consists of copies and sums
// alone, such as a concatenation, has its cost divided among them by their elements.
std::vector<operation_cost> instruction_costs(const program& p, const graph_parts& g,
                                              std::span<const std::size_t> lengths);
// The same with every length at its bound.
std::vector<operation_cost> instruction_costs(const program& p, const graph_parts& g);

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
