// The costs of a program's instructions at the lengths of a run.
#pragma once

#include <cstddef>
#include <span>
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

}  // namespace weft::detail
