// Lowers a graph with its memory plan to the instructions of a program, at compile time.
#pragma once

#include <type_traits>

#include "weft/graph/static_array.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/lower/fingerprint.hpp"
#include "weft/lower/lower_interface.hpp"
#include "weft/lower/lower_node.hpp"
#include "weft/lower/lower_scan.hpp"
#include "weft/lower/lowering.hpp"
#include "weft/lower/program_builder.hpp"
#include "weft/lower/weights.hpp"
#include "weft/lower/workspace.hpp"
#include "weft/passes/plan.hpp"

namespace weft {

namespace detail {

constexpr program_builder build_program(const graph& g) {
  program_builder d{};
  d.fingerprint = fingerprint_of(g);
  const memory_plan p = plan(g);
  if (p.too_large) {
    d.count.fault = model_fault::elements;
    return d;
  }
  lowering ctx{g, p, d};
  lower_interface(ctx);
  lower_rules(ctx);
  require_lengths(ctx);
  int i = 0;
  for (; i < g.count && g.nodes[i].once; ++i) lower_node(ctx, i);
  d.once = d.count.instructions;
  clear_gradients(ctx);
  for (; i < g.count; ++i) {
    begin_loop(ctx, i);
    lower_node(ctx, i);
    end_loop(ctx, i);
  }
  copy_gradients(ctx);
  store_states(ctx);
  assign_scratch(ctx);
  assign_packed_parameters(ctx);
  return d;
}

// The program that views the tables of a program_builder, or their copies of exact size.
template <class Tables>
constexpr program program_of(const Tables& t, const program_counts& n) {
  const auto first = [](const auto& table, int count) {
    using T = std::remove_cvref_t<decltype(table[0])>;
    return array_view<T>{&table[0], static_cast<std::size_t>(count)};
  };
  return {t,
          first(t.instructions, n.instructions),
          first(t.operands, n.operands),
          first(t.inputs, n.inputs),
          first(t.parameters, n.parameters),
          first(t.states, n.states),
          first(t.writes, n.writes),
          first(t.results, n.results),
          first(t.lengths, n.lengths),
          first(t.rules, n.rules),
          first(t.index_checks, n.index_checks),
          first(t.requirements, n.requirements),
          first(t.shifts, n.shifts),
          first(t.loops, n.loops),
          first(t.attentions, n.attentions),
          first(t.fused_ops, n.fused_ops),
          first(t.constants, n.constants),
          {&t.text[0], static_cast<std::size_t>(n.text)}};
}

}  // namespace detail

// The tables of a program at their exact sizes, as they are stored in the binary.
template <program_counts N>
struct program_tables : program_sizes {
  static_array<instruction, N.instructions> instructions;
  static_array<operand_ref, N.operands> operands;
  static_array<input_ref, N.inputs> inputs;
  static_array<parameter_ref, N.parameters> parameters;
  static_array<state_ref, N.states> states;
  static_array<bounds_check, N.writes> writes;
  static_array<result_ref, N.results> results;
  static_array<length_ref, N.lengths> lengths;
  static_array<length_rule_ref, N.rules> rules;
  static_array<index_check, N.index_checks> index_checks;
  static_array<min_length, N.requirements> requirements;
  static_array<shift_ref, N.shifts> shifts;
  static_array<loop_ref, N.loops> loops;
  static_array<lowered_attention, N.attentions> attentions;
  static_array<kernels::fused_op, N.fused_ops> fused_ops;
  alignas(4) static_array<std::byte, N.constants> constants;
  static_array<char, N.text> text;
};

namespace detail {

// See compact() for the variable.
#if defined(__clang__)
template <class Unit>
inline constexpr program_builder built_program = build_program(Unit::g.unpack());
#endif
template <class Unit>
constexpr auto tables() {
#if defined(__clang__)
  constexpr const program_builder& d = built_program<Unit>;
#else
  constexpr program_builder d = build_program(Unit::g.unpack());
#endif
  constexpr program_counts n = d.count;
  return program_tables<n>{d,
                           take<n.instructions>(d.instructions),
                           take<n.operands>(d.operands),
                           take<n.inputs>(d.inputs),
                           take<n.parameters>(d.parameters),
                           take<n.states>(d.states),
                           take<n.writes>(d.writes),
                           take<n.results>(d.results),
                           take<n.lengths>(d.lengths),
                           take<n.rules>(d.rules),
                           take<n.index_checks>(d.index_checks),
                           take<n.requirements>(d.requirements),
                           take<n.shifts>(d.shifts),
                           take<n.loops>(d.loops),
                           take<n.attentions>(d.attentions),
                           take<n.fused_ops>(d.fused_ops),
                           take<n.constants>(d.constants),
                           take<n.text>(d.text)};
}

// The entries of the kernels that a program runs: see program::kernels.
struct kernel_entries {
  kernels::kernel_entry of[static_cast<int>(kernel::length)];
};

template <program_counts N>
constexpr program program_of(const program_tables<N>& t, const kernel_entries& entries) {
  program p = program_of(t, N);
  p.kernels = entries.of;
  return p;
}
template <program_counts N>
constexpr model_fault fault_of(const program_tables<N>&) {
  return N.fault;
}

}  // namespace detail

namespace detail {

// Those of the kernels that the tables run; null for others.
template <class Tables>
consteval kernel_entries kernels_of(const Tables& tables) {
#define WEFT_KERNEL(name) &kernels::name##_kernel,
  kernel_entries all{{WEFT_KERNELS(WEFT_KERNEL)}};
#undef WEFT_KERNEL
  bool used[static_cast<int>(kernel::length) + 1]{};
  for (const instruction& s : tables.instructions) used[static_cast<int>(s.run)] = true;
  for (int k = 0; k < static_cast<int>(kernel::length); ++k)
    if (!used[k]) all.of[k] = nullptr;
  return all;
}

}  // namespace detail

// The program of a compilation unit (see units.hpp), whose graph is its static member `g`.
template <class Unit>
struct lowered {
  static constexpr auto tables = detail::tables<Unit>();
  static constexpr auto kernels = detail::kernels_of(tables);
  static constexpr weft::program program = detail::program_of(tables, kernels);
  // Why the unit is refused: what tracing, a pass or lowering found.
  static constexpr model_fault fault =
      Unit::g.fault != model_fault::none ? Unit::g.fault : detail::fault_of(tables);
};

}  // namespace weft
