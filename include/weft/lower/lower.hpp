// From a graph and its memory plan to the steps of a program, while compiling.
#pragma once

#include <type_traits>

#include "weft/graph/table.hpp"
#include "weft/lower/draft.hpp"
#include "weft/lower/drafting.hpp"
#include "weft/lower/ends.hpp"
#include "weft/lower/layout.hpp"
#include "weft/lower/operations.hpp"
#include "weft/lower/scans.hpp"

namespace weft {

namespace detail {

constexpr program_draft draft(const graph& g) {
  program_draft d{};
  memory_plan const p = plan(g);
  drafting in{g, p, d};
  lower_ends(in);
  lower_rules(in);
  require_lengths(in);
  int i = 0;
  for (; i < g.count && g.nodes[i].once; ++i) lower_node(in, i);
  d.once = d.count.steps;
  clear_gradients(in);
  for (; i < g.count; ++i) {
    begin_loop(in, i);
    lower_node(in, i);
    end_loop(in, i);
  }
  copy_gradients(in);
  store_states(in);
  lay_out_workspace(in);
  lay_out_packed(in);
  return d;
}

// The program whose tables are a draft's, or what was cut from one.
template <class Tables>
constexpr program program_of(const Tables& t, const program_counts& n) {
  auto const first = [](const auto& table, int count) {
    using T = std::remove_cvref_t<decltype(table[0])>;
    return table_view<T>{&table[0], static_cast<std::size_t>(count)};
  };
  return {t,
          first(t.steps, n.steps),
          first(t.inputs, n.inputs),
          first(t.parameters, n.parameters),
          first(t.states, n.states),
          first(t.writes, n.writes),
          first(t.results, n.results),
          first(t.lengths, n.lengths),
          first(t.rules, n.rules),
          first(t.requirements, n.requirements),
          first(t.shifts, n.shifts),
          first(t.loops, n.loops),
          first(t.attentions, n.attentions),
          first(t.links, n.links),
          first(t.constants, n.constants),
          {&t.text[0], static_cast<std::size_t>(n.text)}};
}

}  // namespace detail

// The tables of a program at their exact sizes: what ends up in the binary.
template <program_counts N>
struct program_tables : program_sizes {
  table<step, N.steps> steps;
  table<input_ref, N.inputs> inputs;
  table<parameter_ref, N.parameters> parameters;
  table<state_ref, N.states> states;
  table<write_rule, N.writes> writes;
  table<result_ref, N.results> results;
  table<length_ref, N.lengths> lengths;
  table<length_rule_ref, N.rules> rules;
  table<length_requirement, N.requirements> requirements;
  table<shift_ref, N.shifts> shifts;
  table<loop_ref, N.loops> loops;
  table<attention_ref, N.attentions> attentions;
  table<kernels::chain_link, N.links> links;
  alignas(4) table<std::byte, N.constants> constants;
  table<char, N.text> text;
};

namespace detail {

template <class Source>
constexpr auto tables() {
  constexpr program_draft d = draft(Source::g.unpack());
  constexpr program_counts n = d.count;
  return program_tables<n>{d,
                           cut<n.steps>(d.steps),
                           cut<n.inputs>(d.inputs),
                           cut<n.parameters>(d.parameters),
                           cut<n.states>(d.states),
                           cut<n.writes>(d.writes),
                           cut<n.results>(d.results),
                           cut<n.lengths>(d.lengths),
                           cut<n.rules>(d.rules),
                           cut<n.requirements>(d.requirements),
                           cut<n.shifts>(d.shifts),
                           cut<n.loops>(d.loops),
                           cut<n.attentions>(d.attentions),
                           cut<n.links>(d.links),
                           cut<n.constants>(d.constants),
                           cut<n.text>(d.text)};
}

template <program_counts N>
constexpr program program_of(const program_tables<N>& t) {
  return program_of(t, N);
}

}  // namespace detail

// The program of a graph. Source has the graph as its static constexpr member `g`.
template <class Source>
struct lowered {
  static constexpr auto tables = detail::tables<Source>();
  static constexpr weft::program program = detail::program_of(tables);
};

}  // namespace weft
