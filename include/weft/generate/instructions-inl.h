// A program's instructions as code: each small one is a function of its own, the others call the
// table kernels of the same target.
#if defined(WEFT_GENERATE_INSTRUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_INSTRUCTIONS_INL_H_
#undef WEFT_GENERATE_INSTRUCTIONS_INL_H_
#else
#define WEFT_GENERATE_INSTRUCTIONS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/generate/attention-inl.h"
#include "weft/generate/dot-inl.h"
#include "weft/generate/elementwise-inl.h"
#include "weft/generate/gather-inl.h"
#include "weft/generate/rotate-inl.h"
#include "weft/generate/rows-inl.h"
#include "weft/generate/targets-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/lower/call.hpp"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

#ifndef WEFT_GENERATES

template <class Unit>
HWY_INLINE void run_instructions(const engine& e) {
  e.run_serial(kernels::dispatch());
}
template <class Unit>
HWY_INLINE void pack_operands(const engine& e, std::byte* packed) {
  const kernels::table kernels = kernels::dispatch();
  for (const instruction& s : e.tables().instructions)
    e.pack(s, kernels, packed, precision::float32);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Whether attention's statistics are needed, by its adjoint; generated attention does not compute
// them.
template <class Unit>
constexpr bool needs_statistics() {
  for (const instruction& s : lowered<Unit>::tables.instructions)
    if (s.run == kernel::attention_adjoint) return true;
  return false;
}

template <class Unit, int I>
constexpr const operand_ref* operands_of_instruction() {
  return operands_of(lowered<Unit>::tables, lowered<Unit>::tables.instructions[I]);
}
template <class Unit, int I>
constexpr bool has_fixed_extents() {
  return is_fixed(lowered<Unit>::tables.instructions[I], operands_of_instruction<Unit, I>());
}
// For such an instruction.
template <class Unit, int I>
constexpr signature signature_of_instruction() {
  return signature_of(lowered<Unit>::tables.instructions[I], operands_of_instruction<Unit, I>());
}
template <class Unit, int I>
constexpr gather_plan plan_of_gather() {
  return generate::plan_of_gather(lowered<Unit>::tables.instructions[I],
                                  operands_of_instruction<Unit, I>());
}
template <class Unit, int I>
constexpr rotate_plan plan_of_rotate() {
  return generate::plan_of_rotate(lowered<Unit>::tables.instructions[I],
                                  operands_of_instruction<Unit, I>());
}

// The plan of instruction I; not supported if it is no attention.
template <class Unit, int I>
constexpr attention_plan plan_of_attention() {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr const instruction& s = tables.instructions[I];
  if constexpr (s.run == kernel::attention && !needs_statistics<Unit>())
    return generate::plan_of_attention(s, tables.attentions[s.attention], operands_of(tables, s));
  return {};
}

// For a fixed instruction (is_fixed).
template <class Unit, int I>
constexpr elementwise_plan plan_of_elementwise() {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr const instruction& s = tables.instructions[I];
  return generate::plan_of_elementwise(s, operands_of(tables, s),
                                       tables.fused_ops.begin() + s.first_fused);
}

// For a fixed instruction (is_fixed) that is a contraction.
template <class Unit, int I>
constexpr dot_plan plan_of_dot() {
  return generate::plan_of_dot(signature_of_instruction<Unit, I>());
}

// Whether a contraction reads a parameter as the packed copy that freezing makes for generated
// code, instead of as the table kernels' packed form.
template <class Unit, int I>
constexpr bool reads_packed() {
  constexpr const instruction& s = lowered<Unit>::tables.instructions[I];
  if constexpr (s.run == kernel::dot && s.packed != not_packed && has_fixed_extents<Unit, I>()) {
    constexpr dot_plan plan = plan_of_dot<Unit, I>();
    return plan.supported && packs_rhs<plan> && plan.packed_once &&
           plan.rhs == kernels::rhs_operand(call_at_bounds(lowered<Unit>::tables, s));
  }
  return false;
}

// Whether there is a generated function for instruction I. Programs with loops are interpreted.
template <class Unit, int I>
constexpr bool is_generated() {
  if constexpr (lowered<Unit>::tables.loops.size() > 0) return false;
  if constexpr (plan_of_attention<Unit, I>().supported) return true;
  if constexpr (has_fixed_extents<Unit, I>()) {
    constexpr signature g = signature_of_instruction<Unit, I>();
    constexpr dot_plan dot = plan_of_dot<Unit, I>();
    return (dot.supported && (dot.packing_pays || reads_packed<Unit, I>())) ||
           plan_of_elementwise<Unit, I>().supported || plan_of_gather<Unit, I>().supported ||
           plan_of_rotate<Unit, I>().supported ||
           plan_of_rows(g, hn::MaxLanes(hn::ScalableTag<float>())).supported;
  }
  return false;
}

// Whether it replaces the table kernel of the instruction, frozen module or not.
template <class Unit, int I>
constexpr bool is_always_generated() {
  if constexpr (is_generated<Unit, I>())
    return lowered<Unit>::tables.instructions[I].run != kernel::dot ||
           plan_of_dot<Unit, I>().packing_pays;
  return false;
}

template <class Unit>
HWY_INLINE float* address(const operand_ref& r, const engine& e) {
  const auto base = [&] {
    switch (r.where) {
      case block::workspace:
        return e.blocks().workspace;
      case block::parameters:
        return e.blocks().parameters[r.leaf];
      case block::gradients:
        return e.blocks().gradients;
      // Only results are written, and they are in neither constants nor inputs.
      case block::constants:
        return const_cast<std::byte*>(lowered<Unit>::tables.constants.begin());
      case block::input:
      case block::numbers:  // no generated instruction reads these
      case block::none:
        break;
    }
    return const_cast<std::byte*>(e.inputs()[r.leaf]);
  };
  return reinterpret_cast<float*>(base() + r.offset);
}

template <class Unit, int I>
HWY_INLINE void run_instruction(const engine& e, const kernels::table& kernels) {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr const instruction& s = tables.instructions[I];
  if constexpr (!is_generated<Unit, I>()) {
    e.run(s, kernels);
  } else if constexpr (s.run == kernel::attention) {
    operands at;
    for (int o = 0; o < attention_operand::count; ++o) {
      const operand_ref& r = operands_of(tables, s)[attention_operand::slot(o)];
      at.at[o] = r.where == block::none ? nullptr : address<Unit>(r, e);
    }
    attention<plan_of_attention<Unit, I>()>(at);
  } else {
    const auto operand = [&](int o) {
      return o < s.operands ? address<Unit>(operands_of(tables, s)[o], e) : nullptr;
    };
    if constexpr (s.run == kernel::dot) {
      const std::byte* copy = nullptr;
      if constexpr (reads_packed<Unit, I>())
        if (e.blocks().packed != nullptr) copy = e.blocks().packed + s.packed;
      if constexpr (!is_always_generated<Unit, I>())
        if (copy == nullptr) return e.run(s, kernels);
      dot<signature_of_instruction<Unit, I>()>(
          operand(0), operand(1), operand(2), operand(3), operand(4),
          reinterpret_cast<const float*>(copy),
          reinterpret_cast<float*>(e.blocks().workspace + tables.scratch_offset));
    } else if constexpr (s.run == kernel::elementwise) {
      elementwise<plan_of_elementwise<Unit, I>()>(operand(0), operand(1), operand(2), operand(3),
                                                  operand(4));
    } else if constexpr (s.run == kernel::gather) {
      if constexpr (s.check != 0) e.check_computed(s);
      gather<plan_of_gather<Unit, I>()>(operand(0), operand(1), operand(2));
    } else if constexpr (s.run == kernel::rotate) {
      rotate<plan_of_rotate<Unit, I>()>(operand(0), operand(1), operand(2), operand(3));
    } else {
      rowwise<signature_of_instruction<Unit, I>()>(operand(0), operand(1), operand(2), operand(3));
    }
  }
}

template <class Unit, int I>
HWY_INLINE void pack_operand(const engine& e, const kernels::table& kernels, std::byte* packed) {
  constexpr const instruction& s = lowered<Unit>::tables.instructions[I];
  if constexpr (is_generated<Unit, I>() && reads_packed<Unit, I>()) {
    constexpr dot_plan plan = plan_of_dot<Unit, I>();
    pack_rhs<plan.packed>(address<Unit>(operands_of(lowered<Unit>::tables, s)[plan.rhs], e),
                          reinterpret_cast<float*>(packed + s.packed));
  } else if constexpr (s.packed != not_packed && !is_generated<Unit, I>()) {
    e.pack(s, kernels, packed, precision::float32);
  }
}

// Compilers limit the length of a fold expression.
inline constexpr int instructions_per_call = 32;

template <int First, class F, int... I>
HWY_NOINLINE void call_with(std::integer_sequence<int, I...>, const F& f) {
  (f(std::integral_constant<int, First + I>()), ...);
}

// Calls f with the index of each instruction of a run, from First on, as a std::integral_constant.
template <class Unit, int First = lowered<Unit>::tables.once, class F>
HWY_INLINE void for_each_instruction(const F& f) {
  constexpr int remaining = static_cast<int>(lowered<Unit>::tables.instructions.size()) - First;
  if constexpr (remaining > 0) {
    call_with<First>(std::make_integer_sequence<int, std::min(remaining, instructions_per_call)>(),
                     f);
    for_each_instruction<Unit, First + instructions_per_call>(f);
  }
}

// Whether all instructions of a run are always generated.
template <class Unit, int... I>
constexpr bool all_generated(std::integer_sequence<int, I...>) {
  const bool generated[]{is_always_generated<Unit, lowered<Unit>::tables.once + I>()..., true};
  return std::ranges::all_of(generated, [](bool g) { return g; });
}

// The table kernels of the same target, if the program needs them.
template <class Unit>
HWY_INLINE kernels::table table_kernels() {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr int count = static_cast<int>(tables.instructions.size()) - tables.once;
  if constexpr (all_generated<Unit>(std::make_integer_sequence<int, count>()))
    return {};
  else
    return kernels::dispatch();
}

// Runs the instructions of the program that Unit lowers to, on the engine's memory and arguments.
template <class Unit>
HWY_INLINE void run_instructions(const engine& e) {
  const kernels::table kernels = table_kernels<Unit>();
  if constexpr (lowered<Unit>::tables.loops.size() > 0)
    e.run_serial(kernels);
  else
    for_each_instruction<Unit>([&](auto i)
                                   HWY_ATTR { run_instruction<Unit, i.value>(e, kernels); });
}

// Packs the parameters for them, in float32, into packed_bytes of the program.
template <class Unit>
HWY_INLINE void pack_operands(const engine& e, std::byte* packed) {
  const kernels::table kernels = table_kernels<Unit>();
  for_each_instruction<Unit>([&](auto i)
                                 HWY_ATTR { pack_operand<Unit, i.value>(e, kernels, packed); });
}

#endif

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
