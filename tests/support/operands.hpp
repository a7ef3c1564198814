// The operands of nodes as tests read and write them: what changes with their representation.
#pragma once

#include "weft/graph/node.hpp"

namespace weft::testing {

// The node that a node reads as its operand of this number, and how many it reads.
constexpr int operand_of(const node& n, int operand) {
  return n.operand[operand];
}
constexpr int operand_count(const node& n) {
  return n.operands;
}

// For graphs that no pass makes.
constexpr void add_operand(node& n, int id) {
  n.operand[n.operands++] = id;
}
constexpr void set_operand(node& n, int operand, int id) {
  n.operand[operand] = id;
}

}  // namespace weft::testing
