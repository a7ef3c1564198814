// The layout of tensors in memory: strides and offsets; and that of views.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/ops.hpp"
#include "weft/passes/memory_plan.hpp"

namespace weft::detail {

inline constexpr std::size_t max_bytes = std::numeric_limits<std::ptrdiff_t>::max();

// Returns false where there are more than max_elements, or more than addresses have room for.
constexpr bool row_major(std::ptrdiff_t* stride, const axis_list& axes) {
  constexpr std::uint64_t limit = std::min<std::uint64_t>(max_elements, max_bytes / 8);
  std::uint64_t next = 1;
  for (int i = axes.count - 1; i >= 0; --i) {
    stride[i] = static_cast<std::ptrdiff_t>(next);
    if (next > limit / axes.at[i]->extent) return false;
    next *= axes.at[i]->extent;
  }
  return true;
}

constexpr std::size_t bytes_of(const node& n) {
  return n.axes.extent() * static_cast<std::size_t>(bytes(n.type));
}

// Byte offsets of a node's further results in its buffer: an attention's statistics (log-sum-exp),
// and the gradients of an adjoint, each of the size of what it is the gradient for.
constexpr std::size_t statistics_offset(const node& attention) {
  return align(bytes_of(attention));
}
constexpr std::size_t part_offset(const graph& g, const node& adjoint, std::int64_t part) {
  std::size_t offset = 0;
  for_each_gradient(adjoint, [&](const slot&, int of) {
    if (part-- > 0) offset += align(bytes_of(g.nodes[of]));
  });
  return offset;
}
// The byte offset of the partial row sums in the buffer of a normalization's adjoint: for the
// gain's gradient (which = 0), then for the bias's (1).
constexpr std::size_t partial_sums_offset(const node& adjoint, std::int64_t which) {
  const std::size_t sums = partial_count(adjoint) * row_axes(adjoint).extent();
  return align(bytes_of(adjoint)) + static_cast<std::size_t>(which) * 4 * sums;
}
// Bytes of the node's buffer, for all its results.
constexpr std::size_t memory_of(const graph& g, const node& n) {
  if (n.kind == op::attention) return statistics_offset(n) + 4 * attention_rows(n).extent();
  if (n.kind == op::attention_adjoint) return part_offset(g, n, n.operands);
  if (has_partial_sums(n)) return partial_sums_offset(n, 2);
  return bytes_of(n);
}

// What a view's function in its entry sees: its node, its operand's layout, and its own to fill in.
class view_layout {
 public:
  constexpr view_layout(const node& of, const graph& g, const memory_plan& p, layout& to)
      : n(of), g_(g), source_(p.of[of.operand[0]]), axes_(g.nodes[of.operand[0]].axes), to_(to) {}

  const node& n;

  // The view has its operand's buffer; then push gives the strides of its axes, outermost first.
  constexpr void alias() {
    const bool of_root = source_.root == n.operand[0];
    to_ = source_;
    if (of_root) to_.offset = 0;
    for (std::ptrdiff_t& stride : to_.stride) stride = 0;
  }
  constexpr void push(std::ptrdiff_t stride) { to_.stride[pushed_++] = stride; }
  constexpr void add_elements(std::ptrdiff_t count) {
    to_.offset += static_cast<std::size_t>(count * bytes(n.type));
  }
  // Adds the length of an axis, or the current step of the scan, times a stride.
  constexpr void add_shift(const axis_info* length, std::ptrdiff_t stride) {
    to_.shifts[to_.shift_count++] = {length, stride};
  }
  // The view is one of the results of a node that has several.
  constexpr void alias_result(std::int64_t which) {
    to_.root = n.operand[0];
    to_.offset = part_offset(g_, g_.nodes[n.operand[0]], which);
  }

  // Calls f(axis, stride) for the operand's axes, outermost first.
  template <class F>
  constexpr void for_each_axis(F f) const {
    for (int a = 0; a < axes_.count; ++a) f(axes_.at[a], source_.stride[a]);
  }
  constexpr bool has(const axis_info* axis) const { return axes_.contains(axis); }
  constexpr std::ptrdiff_t stride_of(const axis_info* axis) const {
    return source_.stride[axes_.find(axis)];
  }
  // Whether one stride goes through all of these axes of the operand.
  constexpr bool can_coalesce(const axis_list& named) const {
    for (int j = 0; j + 1 < named.count; ++j) {
      const auto inner = static_cast<std::ptrdiff_t>(named.at[j + 1]->extent);
      if (stride_of(named.at[j]) != stride_of(named.at[j + 1]) * inner) return false;
    }
    return true;
  }

 private:
  const graph& g_;
  const layout& source_;
  const axis_list& axes_;
  layout& to_;
  int pushed_ = 0;
};

inline constexpr auto views = table_of_operations([]<op K>() -> void (*)(view_layout&) {
  if constexpr (is_view(K))
    return &op_entry<K>::view;
  else
    return nullptr;
});

}  // namespace weft::detail
#include "weft/header_end.hpp"
