// The graph: a flat list of nodes in topological order, so list order is an execution order. Plain
// data, so that graphs are values in constant expressions.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/axes/axis.hpp"
#include "weft/graph/attributes.hpp"
#include "weft/graph/initializer.hpp"
#include "weft/graph/model_fault.hpp"
#include "weft/graph/node.hpp"
#include "weft/graph/op.hpp"
#include "weft/graph/op_table.hpp"
#include "weft/graph/reject.hpp"

namespace weft {

// The limits of a model; examples/LIMITS.md has them in a table. An array takes a compiler what is
// used of it, so that high limits are free.
#ifndef WEFT_MAX_OPERATIONS
inline constexpr int max_operations = 40960;  // those that a pass appends included
#else  // for weft's own tests, since a run has to copy all of an array
inline constexpr int max_operations = WEFT_MAX_OPERATIONS;
#endif
inline constexpr int max_inputs = 256;
inline constexpr int max_parameters = 8192;
inline constexpr int max_states = 1024;
inline constexpr int max_results = 1024;
inline constexpr int max_rules = 128;     // of lengths
inline constexpr int max_regions = 1024;  // scans, and their adjoints
inline constexpr int max_text = 250000;   // characters in all names; a constant loop ends at 262144
inline constexpr int max_path = 240;      // characters in one name
inline constexpr std::uint64_t max_elements = std::uint64_t{1} << 40;  // of one tensor

// With room for what is appended until the model is refused.
inline constexpr int max_nodes = max_operations + 4096;
// Results, gradients and updates of states.
inline constexpr int max_outputs = max_results + max_parameters + max_states;

struct name_ref {
  int begin, size;
};

struct leaf {
  name_ref name;
  int node;
  initializer init;  // parameters
  // Leaves of one kind are a search tree by the hashes of their names: the indices of the roots of
  // the leaves with lesser hashes, and of the others; 0: none.
  std::uint32_t hash;
  int after[2];
  bool held;  // a parameter that training leaves as it is
};

enum class output_kind : std::uint8_t { result, gradient, update };

struct output {
  output_kind kind;
  name_ref name;  // of the result, the parameter, or the state
  int node;
  int leaf;  // of the parameter; of the state, which becomes this node
};

// The run-time length of `target` in every graph of a model: (sum of the lengths of `sources` +
// add) * multiply / divide, where a negative sum counts as 0. Unless it rounds_down, a remainder
// throws weft::error.
struct length_rule {
  const axis_info* target;
  axis_list sources;
  std::int64_t add, multiply, divide;
  bool rounds_down;
  friend constexpr bool operator==(const length_rule&, const length_rule&) = default;
};

// The body of a scan: nodes that are executed once for each of its steps.
struct region {
  const axis_info* axis;   // the scanned axis
  const axis_info* steps;  // its alias for values that a pass collects over all steps
  bool backwards;          // from the last index to the first
};

struct graph {
  node nodes[max_nodes]{};
  int count = 0;
  leaf inputs[max_inputs]{};
  int input_count = 0;
  leaf parameters[max_parameters]{};
  int parameter_count = 0;
  leaf states[max_states]{};
  int state_count = 0;
  output outputs[max_outputs]{};
  int output_count = 0;
  length_rule rules[max_rules]{};
  int rule_count = 0;
  region regions[max_regions]{};
  int region_count = 0;
  int open_region = 0;  // the region of the scan that is being traced; 0: none
  // All names: those of the graph that this one was made from, which outlives it, or, if that is
  // null, its own. Passes would copy them else, which takes a compiler long.
  const char* text_of_another = nullptr;
  char own_text[max_text]{};
  int text_size = 0;
  // The model is refused: the graph is empty, and what is derived from it compiles without further
  // messages.
  bool rejected = false;
  // The error, if it is still to be reported, and the name that it is about.
  model_fault fault = model_fault::none;
  name_ref fault_name{};

  constexpr const char* text() const { return text_of_another ? text_of_another : own_text; }
  constexpr std::string_view name(name_ref r) const {
    return {text() + r.begin, static_cast<std::size_t>(r.size)};
  }
  constexpr name_ref intern(std::string_view s);
  // Records an error; the first one is kept. What follows is of no use, but has to be possible.
  constexpr void refuse(model_fault why, std::string_view about = {});
  // The index of the leaf of this name; -1: there is none, and the next one has this name.
  constexpr int find_or_expect(leaf* leaves, int leaf_count, std::string_view s,
                               std::uint32_t hash) const;
  // Appends a node in the region that region_of gives, and returns its id.
  constexpr int emit(const node& n);
  // Appends a region, and returns the value of node::region for its nodes.
  constexpr std::int16_t add_region(const region& r);
};

constexpr name_ref graph::intern(std::string_view s) {
  if (text_size + static_cast<int>(s.size()) > max_text) {
    refuse(model_fault::names);
    return {};
  }
  if (text_of_another && !s.empty()) {
    for (int i = 0; i < text_size; ++i) own_text[i] = text_of_another[i];
    text_of_another = nullptr;
  }
  const name_ref r{text_size, static_cast<int>(s.size())};
  for (const char c : s) own_text[text_size++] = c;
  return r;
}

constexpr void graph::refuse(model_fault why, std::string_view about) {
  if (rejected) return;
  rejected = true;
  fault = why;
  fault_name = intern(about);
}

constexpr int graph::find_or_expect(leaf* leaves, int leaf_count, std::string_view s,
                                    std::uint32_t hash) const {
  for (int i = 0; i < leaf_count && !rejected;) {
    leaf& l = leaves[i];
    if (l.hash == hash && name(l.name) == s) return i;
    int& next = l.after[l.hash < hash];
    if (next == 0) next = leaf_count;
    i = next;
  }
  return -1;
}

// The graph of a model that is refused.
constexpr graph rejected_graph() {
  graph g;
  g.rejected = true;
  return g;
}
// The same with the error that is to be reported.
constexpr graph refused_graph(model_fault why, std::string_view about = "") {
  graph g;
  g.refuse(why, about);
  return g;
}

constexpr graph rejected_graph(const graph& g) {
  return refused_graph(g.fault, g.name(g.fault_name));
}

// Whether node `id` is an input, or views of one.
constexpr bool is_part_of_input(const graph& g, int id) {
  while (is_view(g.nodes[id].kind)) id = g.nodes[id].operand[0];
  return g.nodes[id].kind == op::input;
}

// Whether both are executed equally often: once, in every run, or in every step of the same scan.
constexpr bool same_schedule(const node& a, const node& b) {
  return a.region == b.region && a.once == b.once;
}

// The region where a node's value may be read, 0 outside of scans: that of its operands, unless the
// node itself enters or leaves a body.
constexpr std::int16_t region_of(const graph& g, const node& n) {
  if (n.kind == op::carry || n.kind == op::scan_slice) return n.region;
  if (n.kind == op::scan_result || n.kind == op::scan_collect) return 0;
  std::int16_t region = 0;
  for (int i = 0; i < n.operands; ++i)
    if (g.nodes[n.operand[i]].region != 0) region = g.nodes[n.operand[i]].region;
  return region;
}

constexpr int graph::emit(const node& n) {
  if (count >= max_operations) {
    refuse(model_fault::operations);
    if (count == max_nodes) count = max_operations;
  }
  nodes[count] = n;
  nodes[count].region = region_of(*this, n);
  return count++;
}

constexpr std::int16_t graph::add_region(const region& r) {
  if (region_count == max_regions) {
    refuse(model_fault::scans);
    --region_count;
  }
  regions[region_count++] = r;
  return static_cast<std::int16_t>(region_count);
}

namespace detail {

// "x: float [Batch, Pos]", for a message.
constexpr std::string_view name_of_type(dtype e) {
  switch (e) {
    case dtype::float32:
      return "float";
    case dtype::int32:
      return "int32";
    case dtype::boolean:
      return "bool";
    case dtype::bfloat16:
      break;
  }
  return "bfloat16";
}
constexpr message describe(std::string_view name, dtype e, const axis_list& axes) {
  message m;
  m << name << ": " << name_of_type(e) << " [";
  for (int a = 0; a < axes.count; ++a) m << (a > 0 ? ", " : "") << axes.at[a]->name;
  return m << "]";
}

}  // namespace detail

// A scan in a graph: the nodes of its body are in the same list, marked with their region.
//
// scan_slice    (x)             in the body: x without the scanned axis, at the current step
// carry         (initial)       in the body: the carry at the beginning of a step
// yield         (carry, value)  in the body: sets the carry of the next step
// scan_collect  (value)         outside: the values of all steps, along an additional axis
// scan_result   (carry)         outside: the carry after the last step
//
// initial and value may be scalars, which are broadcast. All other nodes are in the body of their
// operands, so loop-invariant nodes are outside. A node outside that is listed between nodes of a
// body does not depend on them.

// The region whose loop executes node i; 0 if none.
constexpr int loop_of(const graph& g, int i) {
  const node& n = g.nodes[i];
  return n.kind == op::scan_collect ? g.nodes[n.operand[0]].region : n.region;
}

}  // namespace weft
#include "weft/header_end.hpp"
