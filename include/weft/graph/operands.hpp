// The operands and results of a node by role: what its operation's slots say, as far as it has
// them. A node has its operands one after another, in the order of the slots.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/fault.hpp"
#include "weft/graph/node.hpp"
#include "weft/graph/op_table.hpp"

namespace weft {

namespace detail {

// Not constexpr: where constant evaluation reaches one, the compiler prints its name as the error.
inline void the_operation_has_no_slot_for_this_role() {
  detail::fault("graph: the operation has no slot for this role");
}
inline void operands_are_added_in_the_order_of_their_slots() {
  detail::fault("graph: operands are added in the order of their slots");
}

}  // namespace detail

// Whether n has slot number s of its operation: an operand, or a result that was asked for.
constexpr bool has_slot(const node& n, int s) {
  return info(n.kind).slots[s].is != presence::optional || (n.present >> s & 1) != 0;
}

// The number of the slot of a role; -1: the operation has none.
constexpr int slot_of(op kind, role what) {
  const auto& of = info(kind);
  const slot* const slots = of.slots;
  for (int s = 0; s < of.slot_count; ++s)
    if (slots[s].what == what) return s;
  return -1;
}
constexpr bool has(const node& n, role what) {
  const int s = slot_of(n.kind, what);
  return s >= 0 && has_slot(n, s);
}

// Calls f(slot, id) for each operand, in their order.
template <class F>
constexpr void for_each_operand(any_node auto& n, F f) {
  const slot* here = info(n.kind).slots;
  std::uint32_t present = n.present;
  for (int j = 0; j < n.operands; ++here, present >>= 1) {
    if (here->by > access::strides) continue;
    if (here->is == presence::optional && (present & 1) == 0) continue;
    f(*here, n.operand[j++]);
    while (here->is == presence::repeated && j < n.operands) f(*here, n.operand[j++]);
  }
}
// The id of the operand in a role; -1: it is not there.
constexpr int find_operand(const node& n, role what) {
  const slot* here = info(n.kind).slots;
  std::uint32_t present = n.present;
  for (int j = 0; j < n.operands; ++here, present >>= 1) {
    if (here->by > access::strides) continue;
    if (here->is == presence::optional && (present & 1) == 0) continue;
    if (here->what == what) return n.operand[j];
    ++j;
  }
  return -1;
}

// Marks an optional operand as present, or asks for a further result.
constexpr void mark(node& n, role what) {
  const int s = slot_of(n.kind, what);
  if (s < 0) return detail::the_operation_has_no_slot_for_this_role();
  if (info(n.kind).slots[s].is == presence::optional) n.present |= 1u << s;
  if (n.present >> s > 1) detail::operands_are_added_in_the_order_of_their_slots();
}
// Adds the operand in a role, after those of the slots before it.
constexpr void add_operand(node& n, role what, int id) {
  mark(n, what);
  n.operand[n.operands++] = id;
}

// Calls f(slot) for each result: the node's value, then those that are there beside it.
template <class F>
constexpr void for_each_result(const node& n, F f) {
  const auto& of = info(n.kind);
  for (int s = 0; s < of.slot_count; ++s)
    if ((of.slots[s].by == access::writes || of.slots[s].by == access::own) && has_slot(n, s))
      f(of.slots[s]);
}
// Calls f(slot, id) for each gradient that an attention's adjoint computes: id is of the node that
// it is the gradient for, whose axes it has. op::get_result 0, 1, 2, ... are views of them.
template <class F>
constexpr void for_each_gradient(const node& adjoint, F f) {
  const auto& of = info(adjoint.kind);
  if (of.in != op_class::attention) return;
  int id[max_slots]{};  // of the operand in each slot
  for (int s = 0, j = 0; s < of.slot_count; ++s) {
    const slot& here = of.slots[s];
    if (here.is == presence::optional && (adjoint.present >> s & 1) == 0) continue;
    if (here.by <= access::strides) id[s] = adjoint.operand[j++];
    if (here.gradient_of != role::result) f(here, id[here.slot_of_it]);
  }
}

}  // namespace weft
#include "weft/header_end.hpp"
