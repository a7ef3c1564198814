// The graph: a flat list of nodes, plain data, a value that the compiler can see. An operand comes
// before the node that uses it, so the order of the list is an order of execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "weft/axes/axis.hpp"
#include "weft/graph/initializer.hpp"
#include "weft/graph/op.hpp"
#include "weft/graph/reject.hpp"

namespace weft {

inline constexpr int max_rank = 8;       // axes of one tensor, and loops of one operation
inline constexpr int max_operands = 11;  // of one node
inline constexpr int max_nodes = 8192;
inline constexpr int max_leaves = 1024;  // parameters, or inputs
inline constexpr int max_states = 256;
inline constexpr int max_outputs = 1024;  // results, gradients and updates of states
inline constexpr int max_rules = 64;
inline constexpr int max_regions = 128;   // scans, and their adjoints
inline constexpr int max_text = 1 << 16;  // characters in all names together
inline constexpr int max_path = 120;      // characters in one name

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
  // The number of elements, each axis at its bound.
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

// Made by make_node. Graphs have large arrays of these: a default other than zero would make a
// compiler write out every element.
struct node {
  op kind;
  dtype type;
  std::int8_t operands;
  bool once;  // computed when a program is given its memory, before any run: see hoist.hpp
  // The scan in whose body it is, as its place in the list of those and one; 0: none.
  std::int16_t region;
  bool fused;            // computed within the step that uses it, and stored nowhere: see chain.hpp
  std::uint8_t options;  // attention: see attention_option; normalize's adjoint: see row_sums.hpp
  axis_list axes;        // of the result, outermost first
  int operand[max_operands];
  // The axes that the operation names: what a reduction or a rowwise operation runs over; what
  // split makes and merge joins, outermost first; the axis of each operand of concatenate; what
  // gather and scatter_add index (one); where write puts rows, and the axis of these; what slice
  // leaves and place fills (one), then the axes whose lengths are added to `start`; what rename
  // names anew (one); what a scan runs along (one, of element and stack); whose lengths `length`
  // multiplies; of rotate and its adjoint the axis of the numbers and that of the pairs;
  // attention's key, depth, value and query axes; of windows and overlap_add the axis that is
  // looked along, the windows' and that of the places in one.
  axis_list named;
  op epilogue;  // dot: the function that it ends with
  double
      scale;  // dot, attention: what the sum of products is multiplied with; softmax: its operand
  double scalar;       // constant: its value; normalize: epsilon; attention: soft cap, 0 for none;
                       // numbers: the dropout's rate; rotate_adjoint: 0 for the cosine, 1 for the
                       // sine
  std::int64_t start;  // slice, place: where it begins; part, row_sums: which one; attention: see
                       // there;
                       // rotate and its adjoint: which numbers are a pair;
                       // numbers: the dropout's salt
  std::int64_t lowest, highest;  // attention: the band of keys less queries that is seen;
  // windows, overlap_add: from window to window, and from place to place in one
  std::int64_t origin;  // attention: the relative bias's index for a key at the query's place
  int leaf;             // input, parameter, state: its place in the list of those
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

// Which operand holds the indices of what the node picks along its first named axis; -1 where it
// has none.
constexpr int place_of_indices(const node& n) {
  if (n.kind == op::gather || n.kind == op::scatter_add) return 1;
  return n.kind == op::log_softmax_adjoint && n.operands == 3 ? 2 : -1;
}

struct name_ref {
  int begin, size;
};

struct leaf {
  name_ref name;
  int node;
  initializer init;  // parameters
};

enum class role : std::uint8_t { result, gradient, update };

struct output {
  role kind;
  name_ref name;  // of the result, the parameter, or the state
  int node;
  int leaf;  // gradients: the place of the parameter; updates: of the state, which becomes this
             // node
};

// A length that follows from others, in every graph of a model: (sum of the sources + add) *
// multiply / divide, which may have to come out even.
struct length_rule {
  const axis_info* target;
  axis_list sources;
  std::int64_t add, multiply, divide;
  bool rounds_down;
  friend constexpr bool operator==(const length_rule&, const length_rule&) = default;
};

// The body of a scan: nodes that are carried out once for each step.
struct region {
  const axis_info* axis;   // that it runs along
  const axis_info* steps;  // the same axis in a role of its own: of what a pass stacks
  bool backwards;          // from the last element to the first
};

// What is wrong with a model that its types do not show.
enum class model_fault : std::uint8_t {
  none,
  two_parameters,
  shared_parameter,
  two_inputs,
  two_states,
  two_results
};

struct graph {
  node nodes[max_nodes]{};
  int count = 0;
  leaf inputs[max_leaves]{};
  int input_count = 0;
  leaf parameters[max_leaves]{};
  int parameter_count = 0;
  leaf states[max_states]{};
  int state_count = 0;
  output outputs[max_outputs]{};
  int output_count = 0;
  length_rule rules[max_rules]{};
  int rule_count = 0;
  region regions[max_regions]{};
  int region_count = 0;
  int open_region = 0;  // that a scan is making
  char text[max_text]{};
  int text_size = 0;
  // The compiler has refused the model and has said why: what is made of this graph, which has
  // nothing, is to compile without a further message.
  bool rejected = false;
  // Why, where that is to be said yet, and the name that it is about.
  model_fault fault = model_fault::none;
  name_ref fault_name{};

  constexpr std::string_view name(name_ref r) const {
    return {text + r.begin, static_cast<std::size_t>(r.size)};
  }
  constexpr name_ref intern(std::string_view s);
  // Notes what is wrong; the first fault stays.
  constexpr void refuse(model_fault why, std::string_view about);
  // Appends a node; its region is that of its operands, unless it begins there itself.
  constexpr int emit(const node& n);
  // Appends a region, and gives what its nodes are marked with.
  constexpr std::int16_t add_region(const region& r);
};

// Reached while compiling, these functions' names are what the compiler prints.
inline void the_model_has_more_operations_than_max_nodes() {
  throw std::length_error("graph: the model has more operations than max_nodes");
}
inline void the_model_has_more_scans_than_max_regions() {
  throw std::length_error("graph: the model has more scans than max_regions");
}
inline void this_number_does_not_fit_into_int32() {
  throw std::out_of_range("graph: a number does not fit into int32");
}
inline void the_models_names_are_longer_than_max_text() {
  throw std::length_error("graph: the model's names are longer than max_text");
}

constexpr name_ref graph::intern(std::string_view s) {
  if (text_size + static_cast<int>(s.size()) > max_text)
    the_models_names_are_longer_than_max_text();
  name_ref const r{text_size, static_cast<int>(s.size())};
  for (char const c : s) text[text_size++] = c;
  return r;
}

constexpr void graph::refuse(model_fault why, std::string_view about) {
  if (rejected) return;
  rejected = true;
  fault = why;
  fault_name = intern(about);
}

// That of a model which is refused.
constexpr graph rejected_graph() {
  graph g;
  g.rejected = true;
  return g;
}

// Are both carried out in the same place: once, in every run, or in a scan's every step?
constexpr bool same_schedule(const node& a, const node& b) {
  return a.region == b.region && a.once == b.once;
}

// Where a node's value may be read.
constexpr std::int16_t region_of(const graph& g, const node& n) {
  if (n.kind == op::carry || n.kind == op::scan_slice) return n.region;
  if (n.kind == op::scan_result || n.kind == op::scan_collect) return 0;
  std::int16_t region = 0;
  for (int i = 0; i < n.operands; ++i)
    if (g.nodes[n.operand[i]].region != 0) region = g.nodes[n.operand[i]].region;
  return region;
}

constexpr int graph::emit(const node& n) {
  if (count == max_nodes) the_model_has_more_operations_than_max_nodes();
  nodes[count] = n;
  nodes[count].region = region_of(*this, n);
  return count++;
}

constexpr std::int16_t graph::add_region(const region& r) {
  if (region_count == max_regions) the_model_has_more_scans_than_max_regions();
  regions[region_count++] = r;
  return static_cast<std::int16_t>(region_count);
}

namespace detail {

// "x: float [Batch, Pos]", for a message.
constexpr std::string_view name_of_type(dtype e) {
  return e == dtype::float32 ? "float" : e == dtype::int32 ? "int32" : "bool";
}
constexpr message describe(std::string_view name, dtype e, const axis_list& axes) {
  message m;
  m << name << ": " << name_of_type(e) << " [";
  for (int a = 0; a < axes.count; ++a) m << (a > 0 ? ", " : "") << axes.at[a]->name;
  return m << "]";
}

}  // namespace detail

}  // namespace weft
