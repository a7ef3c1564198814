// A node of a graph: an operation with its operands and attributes.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/axes/axis.hpp"
#include "weft/graph/op_table.hpp"

namespace weft {

struct node;

// A node that is constant or not.
template <class N>
concept any_node = std::same_as<const N, const node>;

struct axis_list {
  std::int8_t count;
  const axis_info* at[max_rank];

  constexpr int find(const axis_info* axis) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == axis) return i;
    return -1;
  }
  constexpr bool contains(const axis_info* axis) const { return find(axis) >= 0; }
  constexpr void push(const axis_info* axis) { at[count++] = axis; }
  friend constexpr bool operator==(const axis_list& a, const axis_list& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (a.at[i] != b.at[i]) return false;
    return true;
  }
  // The number of elements with every axis at its bound.
  constexpr std::size_t extent() const {
    std::size_t n = 1;
    for (int i = 0; i < count; ++i) n *= at[i]->extent;
    return n;
  }
  constexpr bool bounded() const {
    for (int i = 0; i < count; ++i)
      if (at[i]->bounded) return true;
    return false;
  }
};

constexpr bool same_axes_in_any_order(const axis_list& a, const axis_list& b) {
  if (a.count != b.count) return false;
  for (int i = 0; i < a.count; ++i)
    if (!b.contains(a.at[i])) return false;
  return true;
}
// The axis of the first list that the second lacks.
constexpr const axis_info* new_axis(const axis_list& axes, const axis_list& others) {
  int a = 0;
  while (others.contains(axes.at[a])) ++a;
  return axes.at[a];
}
// The elements of the axes after number `at`: the stride of that one where all lie row-major.
constexpr std::size_t inner_extent(const axis_list& axes, int at) {
  std::size_t n = 1;
  for (int a = at + 1; a < axes.count; ++a) n *= axes.at[a]->extent;
  return n;
}

// Created by make_node. Graphs hold large arrays of nodes, and with a default other than zero
// compilers would emit every element.
struct node {
  op kind;
  dtype type;
  std::int8_t operands;
  bool once;  // run-invariant: computed once, before all runs; see passes/hoist.hpp
  // 1 + the index in graph::regions of the scan whose body the node is in; 0: none.
  std::int16_t region;
  bool fused;             // computed by its fusion group, never stored; see fusion_group.hpp
  std::uint32_t present;  // optional operands and results that are there: bits of slots
  axis_list axes;         // of the result, outermost first
  int operand[max_operands];
  axis_list named;  // see attributes.hpp
  op epilogue;      // of a dot: the activation applied last; copy: none
  // Of a dot, an attention or its adjoint: multiplies the sum of products. Of a softmax: multiplies
  // the operand.
  double scale;
  // Shared by operations that need a number; attributes.hpp says what each is for which.
  double scalar;
  std::int64_t start;
  std::int64_t lowest, highest;
  std::int64_t origin;
  int leaf;  // of an input, parameter or state: the index in graph::inputs, parameters or states
};

constexpr node make_node(op kind) {
  node n{};
  n.kind = kind;
  n.epilogue = op::copy;
  n.scale = 1;
  n.lowest = std::numeric_limits<std::int64_t>::min();
  n.highest = std::numeric_limits<std::int64_t>::max();
  return n;
}
// With the axes that the operation names, in the order of its functions of attributes.hpp.
constexpr node make_node(op kind, const axis_list& named) {
  node n = make_node(kind);
  n.named = named;
  return n;
}

}  // namespace weft
#include "weft/header_end.hpp"
