// The operands of nodes as tests read and write them: what changes with their representation.
#pragma once

#include "weft/graph/operands.hpp"

namespace weft::testing {

// The node that a node reads as its operand of this number, and how many it reads.
constexpr int operand_of(const node& n, int operand) {
  return n.operand[operand];
}
constexpr int operand_count(const node& n) {
  return n.operands;
}

// Whether a node has exactly these of the operands that it may have.
template <class... Roles>
constexpr bool has_optional(const node& n, Roles... roles) {
  int count = 0;
  for_each_operand(n, [&](const slot& s, int) { count += s.is == presence::optional; });
  return count == static_cast<int>(sizeof...(roles)) && (has(n, roles) && ...);
}

// For graphs that no pass makes: in the next slot.
constexpr void add_operand(node& n, int id) {
  int next = 0;  // the slot
  for (int before = n.operands; before >= 0; ++next)
    before -= is_operand(info(n.kind).slots[next]) || next + 1 == info(n.kind).slot_count;
  if (info(n.kind).slots[--next].is == presence::optional) n.present |= 1u << next;
  n.operand[n.operands++] = id;
}
constexpr void set_operand(node& n, int operand, int id) {
  n.operand[operand] = id;
}

}  // namespace weft::testing
