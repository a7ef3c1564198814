// The run-time lengths of axes that operations create, derived from those of their operands by the
// entries' functions length_rule.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/graph.hpp"
#include "weft/graph/ops.hpp"

namespace weft {

namespace detail {

constexpr void add_rule(graph& g, const length_rule& r) {
  for (int i = 0; i < g.rule_count; ++i)
    if (g.rules[i] == r) return;
  if (g.rule_count == max_rules) return g.refuse(model_fault::rules);
  g.rules[g.rule_count++] = r;
}

template <class Entry>
concept makes_an_axis = requires(length_rule& r, const graph& g, const node& n) {
  Entry::length_rule(r, g, n);
};
inline constexpr auto length_rules =
    table_of_operations([]<op K>() -> void (*)(length_rule&, const graph&, const node&) {
      if constexpr (makes_an_axis<op_entry<K>>)
        return &op_entry<K>::length_rule;
      else
        return nullptr;
    });

}  // namespace detail

// Records the length rules of the nodes of a whole model. Graphs derived from it keep all rules: a
// length must not depend on which nodes survive dead-code elimination.
constexpr void derive_lengths(graph& g) {
  for (int i = 0; i < g.count; ++i) {
    const auto rule = detail::length_rules[g.nodes[i].kind];
    if (!rule) continue;
    length_rule r{};
    r.multiply = r.divide = 1;
    rule(r, g, g.nodes[i]);
    if (!r.target || !r.target->bounded) continue;
    r.target = r.target->length_axis();
    if (!r.sources.contains(r.target)) detail::add_rule(g, r);
  }
}

}  // namespace weft
#include "weft/header_end.hpp"
