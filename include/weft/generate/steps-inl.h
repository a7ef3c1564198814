// A program's steps as code: each that is small is a function of its own, the others call the table
// kernels of the same target.
#if defined(WEFT_GENERATE_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_STEPS_INL_H_
#undef WEFT_GENERATE_STEPS_INL_H_
#else
#define WEFT_GENERATE_STEPS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "weft/kernels/hwy-inl.h"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
// Nothing is generated where vectors have one lane, or a number that is not known while compiling.
#undef WEFT_GENERATES
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
#define WEFT_GENERATES
#include "weft/generate/attention-inl.h"
#include "weft/generate/dot-inl.h"
#include "weft/generate/rows-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

#ifndef WEFT_GENERATES

template <class Source>
HWY_INLINE void run_steps(const engine& e) {
  const kernels::table kernels = kernels::best();
  for (step const& s : e.tables().steps) e.run(s, kernels);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Statistics are for the adjoint; generated attention leaves them out.
template <class Source>
constexpr bool wants_statistics() {
  for (step const& s : lowered<Source>::tables.steps)
    if (s.run == kernel::attention_adjoint) return true;
  return false;
}

// How step I is computed, if it is an attention.
template <class Source, int I>
constexpr attention_plan plan_of_attention() {
  constexpr auto const& tables = lowered<Source>::tables;
  constexpr step const& s = tables.steps[I];
  if constexpr (s.run == kernel::attention && !wants_statistics<Source>())
    return generate::plan_of_attention(s, tables.attentions[s.attention]);
  return {};
}

// Is there a generated function for the step?
template <class Source, int I>
constexpr bool is_generated() {
  constexpr step const& s = lowered<Source>::tables.steps[I];
  if constexpr (plan_of_attention<Source, I>().possible) return true;
  if constexpr (is_fixed(s)) {
    constexpr signature g = signature_of(s);
    return plan_of_dot(g).possible ||
           plan_of_rows(g, hn::MaxLanes(hn::ScalableTag<float>())).possible;
  }
  return false;
}

template <class Source>
HWY_INLINE float* address(const operand_ref& r, const engine& e) {
  const auto base = [&] {
    switch (r.where) {
      case block::workspace:
        return e.blocks().workspace;
      case block::parameters:
        return e.blocks().parameters;
      case block::gradients:
        return e.blocks().gradients;
      // Only results are written to, and they are in neither of these.
      case block::constants:
        return const_cast<std::byte*>(lowered<Source>::tables.constants.begin());
      case block::input:
        break;
    }
    return const_cast<std::byte*>(e.inputs()[r.input]);
  };
  return reinterpret_cast<float*>(base() + r.offset);
}

template <class Source, int I>
HWY_INLINE void run_step(const engine& e, const kernels::table& kernels) {
  constexpr auto const& tables = lowered<Source>::tables;
  constexpr step const& s = tables.steps[I];
  if constexpr (!is_generated<Source, I>()) {
    e.run(s, kernels);
  } else if constexpr (s.run == kernel::attention) {
    constexpr attention_ref const& a = tables.attentions[s.attention];
    attention<plan_of_attention<Source, I>()>(
        address<Source>(a.result, e), address<Source>(a.query, e), address<Source>(a.key, e),
        address<Source>(a.value, e));
  } else {
    const auto operand = [&](int o) {
      return o < s.operands ? address<Source>(s.operand[o], e) : nullptr;
    };
    if constexpr (s.run == kernel::dot)
      dot<signature_of(s)>(operand(0), operand(1), operand(2), operand(3), operand(4),
                           e.blocks().workspace + tables.scratch_offset);
    else
      rowwise<signature_of(s)>(operand(0), operand(1), operand(2), operand(3));
  }
}

// Compilers limit how many operands a fold has.
inline constexpr int steps_per_function = 32;

template <class Source, int First, int... I>
HWY_NOINLINE void run_some(std::integer_sequence<int, I...>, const engine& e,
                           const kernels::table& kernels) {
  (run_step<Source, First + I>(e, kernels), ...);
}

template <class Source, int... I>
constexpr bool all_generated(std::integer_sequence<int, I...>) {
  bool const generated[]{is_generated<Source, I>()..., true};
  return std::ranges::all_of(generated, [](bool g) { return g; });
}

template <class Source, int First = 0>
HWY_INLINE void run_from(const engine& e, const kernels::table& kernels) {
  constexpr int left = static_cast<int>(lowered<Source>::tables.steps.size()) - First;
  if constexpr (left > 0) {
    run_some<Source, First>(std::make_integer_sequence<int, std::min(left, steps_per_function)>(),
                            e, kernels);
    run_from<Source, First + steps_per_function>(e, kernels);
  }
}

// The steps of the program that Source lowers to, on the engine's memory and arguments.
template <class Source>
HWY_INLINE void run_steps(const engine& e) {
  kernels::table kernels{};
  constexpr int count = static_cast<int>(lowered<Source>::tables.steps.size());
  if constexpr (!all_generated<Source>(std::make_integer_sequence<int, count>()))
    kernels = kernels::best();
  run_from<Source>(e, kernels);
}

#endif

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
