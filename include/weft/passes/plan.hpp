// Memory planning at compile time: the layout and buffer of every node.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>

#include "weft/graph/attention.hpp"
#include "weft/graph/fusion_group.hpp"
#include "weft/graph/graph.hpp"
#include "weft/passes/memory_layout.hpp"

namespace weft {

namespace detail {

class planner {
 public:
  constexpr planner(const graph& g, memory_plan& p) : g_(g), p_(p) {}

  constexpr void run() {
    place_parameters();
    place_states();
    find_concatenated();
    for (int i = 0; i < g_.count && !p_.too_large; ++i) lay_out(i);
    if (p_.too_large) return;
    find_bodies();
    for (int i = 0; i < g_.count; ++i) {
      if (g_.nodes[i].fused) continue;
      use(i, i);
      for_each_read(g_, i, [&](int from) { use(from, i); });
    }
    for (int i = 0; i < g_.output_count; ++i) {
      use(g_.outputs[i].node, g_.count);
      if (g_.outputs[i].kind == output_kind::gradient) place_gradient(g_.outputs[i]);
    }
    for (int i = 0; i < g_.count; ++i) {
      if (g_.nodes[i].fused) continue;
      const int body = loop_of(g_, i);
      if (body > 0 && first_of_[body] == i) allocate_across_steps(body);
      const int home = concatenated_in_[i] > 0 ? concatenated_in_[i] - 1 : i;
      if (owns_workspace(home) && size_[home] == 0) allocate(home);
      release_after(i);
      if (body > 0 && last_of_[body] == i)
        for (int j = 0; j <= i; ++j) release(j, i);
    }
    for (int i = 0; i < g_.count; ++i)
      if (p_.of[i].root != i) {  // until here a view's offset is relative to its root's
        const layout& root = p_.of[p_.of[i].root];
        p_.of[i].where = root.where;
        p_.of[i].leaf = root.leaf;
        p_.of[i].offset += root.offset;
      }
    for (int i = 0; i < g_.count; ++i)
      if (g_.nodes[i].once) p_.once_bytes += size_[i];
  }

 private:
  struct free_range {
    std::size_t offset, size;
  };

  // Where addresses have 32 bits, tensors that fit may not fit together.
  constexpr void grow(std::size_t& segment, std::size_t bytes) {
    p_.too_large |= bytes > max_bytes - segment;
    segment += bytes;
  }

  constexpr void place_parameters() {
    for (int i = 0; i < g_.parameter_count; ++i) {
      p_.parameter_offset[i] = p_.parameter_bytes;
      grow(p_.parameter_bytes, align(bytes_of(g_.nodes[g_.parameters[i].node])));
    }
  }

  constexpr void place_states() {
    for (int i = 0; i < g_.state_count; ++i) {
      state_offset_[i] = p_.state_bytes;
      grow(p_.state_bytes, align(bytes_of(g_.nodes[g_.states[i].node])));
    }
    p_.workspace_bytes = p_.state_bytes;
    find_in_place_updates();
  }

  // A state is updated in place where nothing reads its old value afterwards.
  constexpr void find_in_place_updates() {
    if (g_.state_count == 0) return;
    int root[max_nodes]{};  // the node that a view aliases
    int last_read[max_nodes]{};
    for (int i = 0; i < g_.count; ++i) {
      root[i] = is_view(g_.nodes[i].kind) ? root[g_.nodes[i].operand[0]] : i;
      if (!g_.nodes[i].fused) for_each_read(g_, i, [&](int from) { last_read[root[from]] = i; });
    }
    for (int i = 0; i < g_.output_count; ++i) last_read[root[g_.outputs[i].node]] = g_.count;
    for (int i = 0; i < g_.output_count; ++i) {
      const output& o = g_.outputs[i];
      if (o.kind != output_kind::update || g_.nodes[o.node].kind != op::update_rows) continue;
      const node& n = g_.nodes[o.node];
      const int state = g_.states[o.leaf].node;
      bool writes_itself = false;
      for (int j = 1; j < n.operands; ++j) writes_itself |= root[n.operand[j]] == state;
      if (n.operand[0] == state && last_read[state] == o.node && !writes_itself)
        updates_state_[o.node] = state + 1;
    }
  }

  // An operand that only a concatenation uses is computed in its buffer, if the operands before it
  // have lengths known at compile time.
  constexpr void find_concatenated() {
    int reads[max_nodes]{};
    for (int i = 0; i < g_.count; ++i)
      for (int j = 0; j < g_.nodes[i].operands; ++j) ++reads[g_.nodes[i].operand[j]];
    for (int i = 0; i < g_.output_count; ++i) reads[g_.outputs[i].node] = max_nodes;
    for (int i = 0; i < g_.count; ++i) {
      const node& n = g_.nodes[i];
      if (n.kind != op::concatenate || n.region != 0) continue;
      std::int64_t start = 0;
      for (int j = 0; j < n.operands; ++j) {
        const int part = n.operand[j];
        const axis_info* const axis = concatenated_axes(n).at[j];
        if (reads[part] == 1 && can_write_into(part, n, axis)) {
          concatenated_in_[part] = i + 1;
          start_[part] = start;
        }
        if (axis->bounded) break;
        start += static_cast<std::int64_t>(axis->extent);
      }
    }
  }
  // Whether `part` is computed by an instruction with a strided output, and has its axes in the
  // concatenation's order.
  constexpr bool can_write_into(int part, const node& whole, const axis_info* axis) const {
    const node& n = g_.nodes[part];
    if (!same_schedule(n, whole) || n.fused) return false;
    if (!is_elementwise(n.kind) && n.kind != op::dot) return false;
    for (int a = 0; a < n.axes.count; ++a)
      if (n.axes.at[a] != axis && n.axes.at[a] != whole.axes.at[a]) return false;
    return true;
  }

  constexpr bool owns_workspace(int i) const {
    return p_.of[i].root == i && p_.of[i].where == block::workspace &&
           g_.nodes[i].kind != op::state && updates_state_[i] == 0;
  }

  // Extends the live range of node i's buffer to node `by`. What a scan's body reads from outside
  // its current step lives until its last step; run-invariant nodes that runs read live for ever.
  constexpr void use(int i, int by) {
    const int root = p_.of[i].root;
    if (g_.nodes[root].once && by < g_.count && !g_.nodes[by].once) by = g_.count;
    const int body = by < g_.count ? loop_of(g_, by) : 0;
    if (body > 0 && (loop_of(g_, root) != body || lives_across_steps(root))) by = last_of_[body];
    if (last_use_[root] < by) last_use_[root] = by;
  }
  constexpr bool lives_across_steps(int i) const {
    const op kind = g_.nodes[i].kind;
    return kind == op::carry || kind == op::yield || kind == op::scan_collect;
  }
  constexpr void find_bodies() {
    for (int i = g_.count - 1; i >= 0; --i) first_of_[loop_of(g_, i)] = i;
    for (int i = 0; i < g_.count; ++i) last_of_[loop_of(g_, i)] = i;
  }
  // Called before the first step.
  constexpr void allocate_across_steps(int body) {
    for (int i = first_of_[body]; i <= last_of_[body]; ++i)
      if (lives_across_steps(i) && owns_workspace(i)) allocate(i);
  }

  constexpr void lay_out(int i) {
    const node& n = g_.nodes[i];
    layout& l = p_.of[i];
    l.root = i;
    if (!row_major(l.stride, n.axes)) p_.too_large = true;
    if (p_.too_large) return;
    if (n.kind == op::input) {
      l.where = block::input;
      l.leaf = n.leaf;
    } else if (n.kind == op::parameter) {
      l.where = block::parameters;
      l.leaf = n.leaf;
    } else if (n.kind == op::state) {
      l.offset = state_offset_[n.leaf];
    } else if (updates_state_[i] > 0) {
      l.offset = p_.of[updates_state_[i] - 1].offset;
    } else if (n.kind == op::constant) {
      l.where = block::constants;
      l.offset = p_.constant_bytes;
      p_.constant_bytes += 4;
    } else if (n.kind == op::element_ids) {
      l.where = block::numbers;
    } else if (n.kind == op::yield) {
      // A yield is written into its carry's buffer, unless the value aliases a carry as of the
      // step's start: that must not be overwritten, nor overwrite, before the step's end.
      const int from = n.operand[1];
      if (g_.nodes[p_.of[from].root].kind != op::carry || from == n.operand[0]) {
        l = p_.of[n.operand[0]];
        l.offset = 0;
      }
    } else if (concatenated_in_[i] > 0) {
      l.root = concatenated_in_[i] - 1;
      const node& whole = g_.nodes[l.root];
      row_major(l.stride, whole.axes);
      int at = 0;
      while (whole.axes.contains(n.axes.at[at])) ++at;
      l.offset = static_cast<std::size_t>(start_[i] * l.stride[at] * bytes(n.type));
    } else if (is_view(n.kind)) {
      view(n, l);
    }
  }

  // Offsets of views are relative to their roots' until those are allocated.
  constexpr void view(const node& n, layout& l) const {
    view_layout v(n, g_, p_, l);
    views[n.kind](v);
  }

  // A gradient is computed directly into the gradient segment, if it is all of the node's own
  // buffer and no other parameter's. A run-invariant one is copied there: the caller may change
  // gradients.
  constexpr void place_gradient(const output& o) {
    layout& l = p_.of[o.node];
    if (!owns_workspace(o.node) || g_.nodes[o.node].once || has_partial_sums(g_.nodes[o.node]))
      return;
    l.where = block::gradients;
    l.offset = p_.parameter_offset[o.leaf];
  }

  // Whether node i can be computed in place, in the buffer of its operand `from`.
  constexpr bool in_place(int i, int from) const {
    const node& n = g_.nodes[i];
    if (has_partial_sums(n)) return false;  // the operand's buffer has no room for them
    const int root = p_.of[from].root;
    if (!owns_workspace(root) || last_use_[root] != i) return false;
    if (!(g_.nodes[from].axes == n.axes) || bytes(g_.nodes[from].type) != bytes(n.type))
      return false;
    bool fits = true;
    int operand = 0;  // of a fusion group: among its inputs
    for_each_read(g_, i, [&](int read) {
      const bool before = reads_before_writing(n.kind, n.operands, operand++);
      const bool same = g_.nodes[read].axes == n.axes && whole(read);
      if (p_.of[read].root == root && !(before && same)) fits = false;
    });
    return fits;
  }
  // Whether node i spans its whole buffer with the same strides.
  constexpr bool whole(int i) const {
    const layout& l = p_.of[i];
    const node& root = g_.nodes[l.root];
    if (g_.nodes[i].axes.count != root.axes.count) return false;
    for (int a = 0; a < root.axes.count; ++a)
      if (g_.nodes[i].axes.at[a]->extent != root.axes.at[a]->extent ||
          l.stride[a] != p_.of[l.root].stride[a])
        return false;
    return true;
  }

  // Reuses the buffer of an operand whose live range ends here; otherwise first fit from the free
  // list.
  constexpr void allocate(int i) {
    const node& n = g_.nodes[i];
    for_each_read(g_, i, [&](int from) {
      if (size_[i] > 0 || !in_place(i, from)) return;
      const int root = p_.of[from].root;
      p_.of[i].offset = p_.of[root].offset;
      size_[i] = size_[root];
      size_[root] = 0;
    });
    if (size_[i] > 0) return;
    size_[i] = align(memory_of(g_, n));
    int k = 0;
    while (k < free_count_ && free_[k].size < size_[i]) ++k;
    if (k == free_count_) {
      // None fits: grow the workspace, extending the last free range if it is at its end.
      const bool at_end = k > 0 && free_[k - 1].offset + free_[k - 1].size == p_.workspace_bytes;
      p_.of[i].offset = at_end ? free_[k - 1].offset : p_.workspace_bytes;
      if (at_end) --free_count_;
      p_.workspace_bytes = p_.of[i].offset;
      grow(p_.workspace_bytes, size_[i]);
      return;
    }
    p_.of[i].offset = free_[k].offset;
    free_[k].offset += size_[i];
    free_[k].size -= size_[i];
    if (free_[k].size == 0) erase_free(k);
  }

  // Frees the buffers whose live range ends at node i.
  constexpr void release_after(int i) {
    release(i, i);
    for_each_read(g_, i, [&](int from) { release(p_.of[from].root, i); });
  }
  constexpr void release(int root, int i) {
    if (!owns_workspace(root) || last_use_[root] != i || size_[root] == 0) return;
    const free_range freed{p_.of[root].offset, size_[root]};
    size_[root] = 0;
    int k = free_count_;
    while (k > 0 && free_[k - 1].offset > freed.offset) --k;
    for (int j = free_count_++; j > k; --j) free_[j] = free_[j - 1];
    free_[k] = freed;
    join(k);
    if (k > 0) join(k - 1);
  }
  // Coalesces free range k with the next if they are adjacent.
  constexpr void join(int k) {
    if (k + 1 >= free_count_ || free_[k].offset + free_[k].size != free_[k + 1].offset) return;
    free_[k].size += free_[k + 1].size;
    erase_free(k + 1);
  }
  constexpr void erase_free(int k) {
    for (--free_count_; k < free_count_; ++k) free_[k] = free_[k + 1];
  }

  const graph& g_;
  memory_plan& p_;
  std::size_t state_offset_[max_states]{};
  int updates_state_[max_nodes]{};    // id + 1 of the state updated in place; 0: none
  int concatenated_in_[max_nodes]{};  // id + 1 of the concatenation it aliases; 0: none
  std::int64_t start_[max_nodes]{};   // its start there, along the concatenated axis
  int first_of_[max_regions + 1]{}, last_of_[max_regions + 1]{};  // nodes, by region
  int last_use_[max_nodes]{};
  std::size_t size_[max_nodes]{};  // bytes of the buffer that a node owns now; 0: none
  free_range free_[max_nodes]{};   // free list, sorted by offset; none are adjacent
  int free_count_ = 0;
};

}  // namespace detail

// Intermediates with disjoint live ranges share memory (first fit from a free list), and an
// operation may reuse the buffer of an operand whose live range ends there in place. An operand
// that only a concatenation uses is computed in its buffer. Results stay until the next run;
// run-invariant nodes stay if runs read them. States begin the workspace and stay; update_rows
// writes in place if nothing reads the old value afterwards.
constexpr memory_plan plan(const graph& g) {
  memory_plan p;
  detail::planner(g, p).run();
  return p;
}

}  // namespace weft
#include "weft/header_end.hpp"
