// Lowers a graph with its memory plan to the instructions of a program, at compile time.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <type_traits>

#include "weft/graph/static_array.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/scratch.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/fingerprint.hpp"
#include "weft/lower/lower_copies.hpp"
#include "weft/lower/lower_interface.hpp"
#include "weft/lower/lower_node.hpp"
#include "weft/lower/lowering.hpp"
#include "weft/lower/program.hpp"
#include "weft/lower/weights.hpp"
#include "weft/passes/plan.hpp"

namespace weft {

namespace detail {

constexpr std::size_t scratch_of(lowering& ctx, const instruction& s) {
  if (s.operands <= kernels::max_operands) return kernels::scratch_bytes(call_at_bounds(ctx.d, s));
  return kernels::scratch_bytes(call_at_bounds<attention_adjoint_slots.size()>(ctx.d, s));
}

// Assigns memory that the plan of the nodes does not include, at the end of the workspace: staged
// inputs and scratch.
constexpr void assign_scratch(lowering& ctx) {
  std::size_t packing = 0, other = 0;  // of instructions that pack a parameter, and of others
  kernels::packed_dot_scratch packed{};
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    const instruction& s = ctx.d.instructions[i];
    // Tables need none, and trainers are not frozen.
    const bool packs = s.run == kernel::dot && s.packs() && ctx.d.gradient_bytes == 0;
    std::size_t& most = packs ? packing : other;
    most = std::max(most, scratch_of(ctx, s));
    if (!packs) continue;
    const auto frozen = kernels::packed_dot_scratch_bytes(call_at_bounds(ctx.d, s));
    packed = {std::max(packed.in_float32, frozen.in_float32),
              std::max(packed.in_bfloat16, frozen.in_bfloat16),
              std::max(packed.in_others, frozen.in_others)};
  }
  ctx.d.workspace_bytes = ctx.p.workspace_bytes;
  for (int i = 0; i < ctx.d.count.inputs; ++i) {
    ctx.d.inputs[i].staging = ctx.d.workspace_bytes;
    ctx.d.workspace_bytes += align(bytes_of(ctx.g.nodes[ctx.g.inputs[i].node]));
  }
  ctx.d.scratch_bytes = align(std::max(other, packing));
  ctx.d.frozen_scratch_bytes[0] = align(std::max(other, packed.in_float32));
  ctx.d.frozen_scratch_bytes[1] = align(std::max(other, packed.in_bfloat16));
  ctx.d.frozen_scratch_bytes[2] = align(std::max(other, packed.in_others));
  ctx.d.workspace_bytes += ctx.d.scratch_bytes;
}

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
  assign_packed_parameters(ctx);
  assign_scratch(ctx);
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
          first(t.constants, n.constants),
          {&t.text[0], static_cast<std::size_t>(n.text)},
#define WEFT_TABLE(type, name, most) first(t.name, n.name),
          WEFT_TABLES(WEFT_TABLE)};
#undef WEFT_TABLE
}

}  // namespace detail

// The tables of a program at their exact sizes, as they are stored in the binary.
template <program_counts N>
struct program_tables : program_sizes {
  alignas(4) static_array<std::byte, N.constants> constants;
  static_array<char, N.text> text;
#define WEFT_TABLE(type, name, most) static_array<type, N.name> name;
  WEFT_TABLES(WEFT_TABLE)
#undef WEFT_TABLE
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
  return program_tables<n>{d, take<n.constants>(d.constants), take<n.text>(d.text),
#define WEFT_TABLE(type, name, most) take<n.name>(d.name),
                           WEFT_TABLES(WEFT_TABLE)};
#undef WEFT_TABLE
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

// Those of the kernels that the tables run; null for others.
template <class Tables>
consteval kernel_entries kernels_of(const Tables& tables) {
#define WEFT_KERNEL(name) &kernels::name##_kernel,
  kernel_entries all{{WEFT_KERNELS(WEFT_KERNEL)}};
#undef WEFT_KERNEL
  bool used[static_cast<int>(kernel::length) + 1]{}, rare[static_cast<int>(kernel::length) + 1]{};
  for (const instruction& s : tables.instructions) {
    used[static_cast<int>(s.run)] = true;
    bool frequent = s.fused_count > 0 || is_frequent(s.kind, operands_of(tables, s)[0].type);
    for (int f = 0; f < s.fused_count; ++f) {
      const kernels::fused_op& here = tables.fused_ops.begin()[s.first_fused + f];
      frequent = frequent && is_frequent(here.kind, here.type);
    }
    rare[static_cast<int>(s.run)] |= !frequent;
  }
  const auto choose = [&](kernel k, kernels::kernel_entry smaller) {
    if (!rare[static_cast<int>(k)]) all.of[static_cast<int>(k)] = smaller;
  };
  all.of[static_cast<int>(kernel::dot)] = &kernels::frequent_dot_kernel;
  choose(kernel::elementwise, &kernels::frequent_elementwise_kernel);
  choose(kernel::reduce, &kernels::frequent_reduce_kernel);
  choose(kernel::rowwise, &kernels::frequent_rowwise_kernel);
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
#include "weft/header_end.hpp"
