// What the memory plan of a graph says of each node: its segment, strides and offset.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>

#include "weft/graph/graph.hpp"

namespace weft {

inline constexpr std::size_t alignment = 64;  // bytes, of every parameter and intermediate

constexpr std::size_t align(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The memory segments of a run. Gradients have the same offsets as their parameters. Element ids
// (`numbers`) have no memory, only strides: an element's value is the sum of i * stride.
enum class block : std::uint8_t {
  workspace,
  parameters,
  gradients,
  constants,
  input,
  numbers,
  none  // of an operand that is not there
};

// A run-time part of an offset: the length of an axis times a stride, in elements.
struct shift {
  const axis_info* length;  // null: the scan's current step
  std::ptrdiff_t stride;
};

// A node's strided layout: element (i, ...) is at `offset` bytes plus sum of i * stride elements,
// in a segment, an input or a parameter. Strides follow from the axes' bounds, so they are
// compile-time constants; loops run to the lengths.
struct layout {
  block where;
  int leaf;  // the index of the input or the parameter
  std::size_t offset;
  std::ptrdiff_t stride[max_rank];
  shift shifts[max_rank];
  int shift_count;
  int root;  // the node that owns the buffer; for a view, its operand's
};

struct memory_plan {
  layout of[max_nodes]{};
  std::size_t
      parameter_offset[max_parameters]{};  // bytes, in the segments of parameters and of gradients
  std::size_t state_bytes = 0;             // at the start of the workspace
  std::size_t parameter_bytes = 0;
  std::size_t constant_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t once_bytes = 0;  // of it: run-invariant nodes
  bool too_large = false;      // a tensor or a segment is: there is no plan
};

}  // namespace weft
#include "weft/header_end.hpp"
