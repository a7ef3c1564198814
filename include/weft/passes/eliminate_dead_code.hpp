// Dead-code elimination, which also sorts the nodes into the order of execution; of a whole graph,
// or of some of its results.
#pragma once
#include "weft/header_begin.hpp"

#include <string_view>

#include "weft/graph/graph.hpp"
#include "weft/graph/static_array.hpp"

namespace weft {

namespace detail {

// A graph without nodes that has g's names, length rules and regions, and is refused if g is.
constexpr graph empty_like(const graph& g) {
  graph h;
  h.rejected = g.rejected;
  h.fault = g.fault;
  h.fault_name = g.fault_name;
  for (int i = 0; i < g.rule_count; ++i) h.rules[i] = g.rules[i];
  h.rule_count = g.rule_count;
  for (int i = 0; i < g.region_count; ++i) h.regions[i] = g.regions[i];
  h.region_count = g.region_count;
  h.text_of_another = g.text_of_another;
  if (!g.text_of_another)
    for (int i = 0; i < g.text_size; ++i) h.own_text[i] = g.own_text[i];
  h.text_size = g.text_size;
  return h;
}

// Whether inputs and states that no output needs stay.
enum class unneeded : bool { stay, go };

// Gives g the interface of `from` (inputs, parameters, states and outputs), whose node i is node
// to[i] of g. Inputs and states that are not `live` are dropped; null: all are live.
constexpr void remap_interface(graph& g, const graph& from, const int* to, const bool* live) {
  const auto moved = [&](auto end) {
    end.node = to[end.node];
    return end;
  };
  for (int i = 0; i < from.input_count; ++i) {
    if (live && !live[from.inputs[i].node]) continue;
    g.nodes[to[from.inputs[i].node]].leaf = g.input_count;
    g.inputs[g.input_count++] = moved(from.inputs[i]);
  }
  for (int i = 0; i < from.parameter_count; ++i)
    g.parameters[g.parameter_count++] = moved(from.parameters[i]);
  int state[max_states]{};  // its index in g
  for (int i = 0; i < from.state_count; ++i) {
    if (live && !live[from.states[i].node]) continue;
    state[i] = g.state_count;
    g.nodes[to[from.states[i].node]].leaf = g.state_count;
    g.states[g.state_count++] = moved(from.states[i]);
  }
  for (int i = 0; i < from.output_count; ++i) {
    output o = moved(from.outputs[i]);
    if (o.kind == output_kind::update) o.leaf = state[o.leaf];
    g.outputs[g.output_count++] = o;
  }
}

class dead_code_eliminator {
 public:
  explicit constexpr dead_code_eliminator(const graph& g) : g_(g) {
    for (int i = 0; i < g.count; ++i)
      if (g.nodes[i].kind == op::yield) next_of_[g.nodes[i].operand[0]] = i;
  }

  constexpr graph run(unneeded inputs) {
    if (g_.rejected) return rejected_graph(g_);
    for (int i = 0; i < g_.output_count; ++i) {
      const output& o = g_.outputs[i];
      need(o.node);
      if (o.kind == output_kind::update) need(g_.states[o.leaf].node);
    }
    for (int i = 0; i < g_.parameter_count; ++i) need(g_.parameters[i].node);
    if (inputs == unneeded::stay) {
      for (int i = 0; i < g_.input_count; ++i) need(g_.inputs[i].node);
      for (int i = 0; i < g_.state_count; ++i) need(g_.states[i].node);
    }
    while (waiting_count_ > 0) {
      const int i = waiting_[--waiting_count_];
      for (int j = 0; j < g_.nodes[i].operands; ++j) need(g_.nodes[i].operand[j]);
      if (g_.nodes[i].kind == op::carry) need(next_of_[i]);
    }
    graph h = empty_like(g_);
    for (int i = 0; i < g_.count; ++i) {
      if (!live_[i] || loop_of(g_, i) > 0) continue;
      need_bodies(h, i);
      emit(h, i);
    }
    for (int i = 0; i < g_.output_count; ++i) need_body(h, loop_of(g_, g_.outputs[i].node));
    remap_interface(h, g_, to_, live_);
    return h;
  }

 private:
  constexpr void need(int i) {
    if (live_[i]) return;
    live_[i] = true;
    waiting_[waiting_count_++] = i;
  }

  constexpr void emit(graph& h, int i) {
    node n = g_.nodes[i];
    for (int j = 0; j < n.operands; ++j) n.operand[j] = to_[n.operand[j]];
    to_[i] = h.emit(n);
  }

  // Emits the scan bodies that node i reads from, except its own, before it.
  constexpr void need_bodies(graph& h, int i) {
    for (int j = 0; j < g_.nodes[i].operands; ++j) {
      const int body = loop_of(g_, g_.nodes[i].operand[j]);
      if (body != loop_of(g_, i)) need_body(h, body);
    }
  }
  constexpr void need_body(graph& h, int body) {
    if (body == 0 || emitted_[body]) return;
    emitted_[body] = true;
    const auto each = [&](auto f) {
      for (int i = 0; i < g_.count; ++i)
        if (live_[i] && loop_of(g_, i) == body) f(i);
    };
    each([&](int i) { need_bodies(h, i); });
    each([&](int i) {
      if (g_.nodes[i].kind != op::yield) emit(h, i);
    });
    each([&](int i) {
      if (g_.nodes[i].kind == op::yield) emit(h, i);
    });
  }

  const graph& g_;
  bool live_[max_nodes]{};
  bool emitted_[max_regions + 1]{};  // by region, from 1
  int next_of_[max_nodes]{};         // of a carry: its yield
  int waiting_[max_nodes]{};         // live nodes whose operands are not visited yet
  int waiting_count_ = 0;
  int to_[max_nodes]{};
};

}  // namespace detail

// Keeps the nodes that outputs need, and all inputs, states and parameters, so that a module's
// interface does not depend on what the passes find. The nodes of a scan's body become consecutive,
// its yields last.
constexpr graph eliminate_dead_code(const graph& g) {
  return detail::dead_code_eliminator(g).run(detail::unneeded::stay);
}
// The same without the inputs and states that no output needs, for a graph as traced. Every
// parameter stays, so that one parameter buffer serves all graphs of a model.
constexpr graph eliminate_dead_code_and_inputs(const graph& g) {
  return detail::dead_code_eliminator(g).run(detail::unneeded::go);
}

// The index among the outputs of g, a graph or compact_graph, of the result `name`; -1: none.
template <class Graph>
constexpr int find_output(const Graph& g, std::string_view name) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == output_kind::result && g.name(g.outputs[i].name) == name) return i;
  return -1;
}

// The number of results, which come before all other outputs.
template <class Graph>
constexpr int count_results(const Graph& g) {
  int n = 0;
  while (n < g.output_count && g.outputs[n].kind == output_kind::result) ++n;
  return n;
}

namespace detail {

// Adds to h's outputs, a subset of g's, the updates of the states that they depend on.
constexpr void add_updates(graph& h, const graph& g) {
  bool live[max_nodes]{};
  bool taken[max_outputs]{};
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < h.output_count; ++i) live[h.outputs[i].node] = true;
    for (int i = g.count - 1; i >= 0; --i)
      for (int j = 0; live[i] && j < g.nodes[i].operands; ++j) live[g.nodes[i].operand[j]] = true;
    for (int i = 0; i < g.output_count; ++i) {
      const output& o = g.outputs[i];
      if (o.kind != output_kind::update || taken[i] || !live[g.states[o.leaf].node]) continue;
      more = taken[i] = true;
      h.outputs[h.output_count++] = o;
    }
  }
}

}  // namespace detail

// g with only the named results, the updates of the states that they depend on, and the inputs that
// these use; with all results and updates where no name is given. Every name must be a result's.
constexpr graph keep_outputs(const graph& g, array_view<std::string_view> names) {
  if (g.rejected) return g;
  if (names.size() == 0) return eliminate_dead_code_and_inputs(g);
  graph h = g;
  h.output_count = 0;
  for (const std::string_view name : names)
    h.outputs[h.output_count++] = g.outputs[find_output(g, name)];
  if (g.state_count > 0) detail::add_updates(h, g);
  return eliminate_dead_code_and_inputs(h);
}
template <class... Names>
constexpr graph keep_outputs(const graph& g, Names... names) {
  return keep_outputs(g, static_array<std::string_view, sizeof...(Names)>{{names...}}.view());
}

}  // namespace weft
#include "weft/header_end.hpp"
