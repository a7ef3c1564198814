// The steps of a program: a function for each small instruction.
#if defined(WEFT_GENERATE_INSTRUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_INSTRUCTIONS_INL_H_
#undef WEFT_GENERATE_INSTRUCTIONS_INL_H_
#else
#define WEFT_GENERATE_INSTRUCTIONS_INL_H_
#endif

#include <array>
#include <utility>

#include "weft/generate/attention-inl.h"
#include "weft/generate/dot-inl.h"
#include "weft/generate/elementwise-inl.h"
#include "weft/generate/rows-inl.h"
#include "weft/generate/vectors-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/lower/lower.hpp"
#include "weft/run/step.hpp"
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

#ifndef WEFT_GENERATES

template <class>
constexpr generated_steps steps_of() {
  return {};
}

#else

// Whether attention's statistics are needed, by its adjoint; generated attention does not compute
// them.
template <class Unit>
constexpr bool needs_statistics() {
  for (const instruction& s : lowered<Unit>::tables.instructions)
    if (s.run == kernel::attention_adjoint) return true;
  return false;
}

// For a fixed instruction (is_fixed).
template <class Unit, int I>
constexpr signature signature_of_instruction() {
  constexpr const auto& tables = lowered<Unit>::tables;
  return signature_of(tables.instructions[I], operands_of(tables, tables.instructions[I]));
}

// The step of instruction I, an attention.
template <class Unit, int I>
constexpr generated_step step_of_attention() {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr const instruction& s = tables.instructions[I];
  constexpr attention_plan plan =
      plan_of_attention(s, tables.attentions[s.attention], operands_of(tables, s));
  if constexpr (plan.supported && !needs_statistics<Unit>())
    return {&attention<plan>};
  else
    return {};
}

// The step of instruction I, a contraction.
template <class Unit, int I>
constexpr generated_step step_of_dot() {
  constexpr const instruction& s = lowered<Unit>::tables.instructions[I];
  constexpr signature g = signature_of_instruction<Unit, I>();
  constexpr dot_plan plan = plan_of_dot(g);
  if constexpr (plan.supported) {
    constexpr bool reads_packed = s.packs() && packs_once<plan> && plan.rhs == s.rhs;
    if constexpr (plan.packing_pays || reads_packed)
      return {&dot<g>, reads_packed, plan.packing_pays, packs_rhs<plan>};
  }
  return {};
}

// The step of instruction I; none where the kernel is meant.
template <class Unit, int I>
constexpr generated_step step_of() {
  constexpr const auto& tables = lowered<Unit>::tables;
  constexpr const instruction& s = tables.instructions[I];
  constexpr const operand_ref* operands = operands_of(tables, s);
  if constexpr (I < tables.once) {
    return {};
  } else if constexpr (s.run == kernel::attention) {
    return step_of_attention<Unit, I>();
  } else if constexpr (!is_fixed(s)) {
    return {};
  } else if constexpr (s.run == kernel::dot) {
    return step_of_dot<Unit, I>();
  } else if constexpr (s.run == kernel::elementwise) {
    constexpr auto plan =
        plan_of_elementwise(s, operands, tables.fused_ops.begin() + s.first_fused);
    if constexpr (plan.supported) return {&elementwise<plan>};
  } else if constexpr (s.run == kernel::gather) {
    constexpr auto plan = plan_of_gather(s, operands);
    if constexpr (plan.supported) return {&gather<plan>};
  } else if constexpr (s.run == kernel::rotate) {
    constexpr auto plan = plan_of_rotate(s, operands);
    if constexpr (plan.supported) return {&rotate<plan>};
  } else if constexpr (s.run == kernel::rowwise) {
    constexpr signature g = signature_of_instruction<Unit, I>();
    constexpr auto plan = plan_of_rows(g, max_row_elements);
    if constexpr (plan.supported) return {&rowwise<g>};
  }
  return {};
}

template <class Unit, int... I>
constexpr auto all_steps(std::integer_sequence<int, I...>) {
  return std::array<generated_step, sizeof...(I)>{step_of<Unit, I>()...};
}
template <class Unit>
inline constexpr auto steps = all_steps<Unit>(
    std::make_integer_sequence<int, static_cast<int>(lowered<Unit>::tables.instructions.size())>());

// The steps of the program that Unit lowers to, for this target.
template <class Unit>
constexpr generated_steps steps_of() {
  return {steps<Unit>.data(), packed_lanes, packed_vectors};
}

#endif

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
