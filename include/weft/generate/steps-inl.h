// A program's steps as code: each that is small is a function of its own, the others call the table
// kernels of the same target.
#if defined(WEFT_GENERATE_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_STEPS_INL_H_
#undef WEFT_GENERATE_STEPS_INL_H_
#else
#define WEFT_GENERATE_STEPS_INL_H_
#endif

#include <cstddef>
#include <utility>

#include "weft/kernels/hwy-inl.h"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
// Nothing is generated where vectors have one lane, or a number that is not known while compiling.
#undef WEFT_GENERATES
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
#define WEFT_GENERATES
#include "weft/generate/dot-inl.h"
#include "weft/generate/rows-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

#ifndef WEFT_GENERATES

template <class Source>
HWY_INLINE void run_steps(const engine& e) {
  e.run(kernels::best());
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Is there a generated function for the step?
constexpr bool is_generated(const step& s) {
  if (!is_fixed(s)) return false;
  const signature g = signature_of(s);
  return plan_of_dot(g).possible ||
         plan_of_rows(g, hn::MaxLanes(hn::ScalableTag<float>())).possible;
}

// Where a program's blocks lie.
struct blocks {
  memory of;
  const std::byte* const* inputs;
};

template <class Source, int I, int O>
HWY_INLINE float* address(const blocks& b) {
  constexpr step const& s = lowered<Source>::tables.steps[I];
  if constexpr (O >= s.operands) {
    return nullptr;
  } else {
    constexpr operand_ref const& r = s.operand[O];
    std::byte* base = nullptr;
    // Only results are written to, and they are in none of the last two.
    if constexpr (r.where == block::workspace) base = b.of.workspace;
    if constexpr (r.where == block::parameters) base = b.of.parameters;
    if constexpr (r.where == block::gradients) base = b.of.gradients;
    if constexpr (r.where == block::constants)
      base = const_cast<std::byte*>(lowered<Source>::tables.constants.begin());
    if constexpr (r.where == block::input) base = const_cast<std::byte*>(b.inputs[r.input]);
    return reinterpret_cast<float*>(base + r.offset);
  }
}

template <class Source, int I>
HWY_INLINE void run_step(const engine& e, const blocks& b, const kernels::table& kernels) {
  constexpr step const& s = lowered<Source>::tables.steps[I];
  if constexpr (is_generated(s)) {
    constexpr signature g = signature_of(s);
    const operands at{{address<Source, I, 0>(b), address<Source, I, 1>(b), address<Source, I, 2>(b),
                       address<Source, I, 3>(b), address<Source, I, 4>(b)}};
    if constexpr (s.run == kernel::dot)
      dot<g>(at, b.of.workspace + lowered<Source>::tables.scratch_offset);
    else
      rowwise<g>(at);
  } else {
    e.run(s, kernels);
  }
}

// Compilers limit how many operands a fold has.
inline constexpr int steps_per_function = 32;

template <class Source, int First, int... I>
HWY_NOINLINE void run_some(std::integer_sequence<int, I...>, const engine& e, const blocks& b,
                           const kernels::table& kernels) {
  (run_step<Source, First + I>(e, b, kernels), ...);
}

template <class Source>
constexpr bool all_generated() {
  for (step const& s : lowered<Source>::tables.steps)
    if (!is_generated(s)) return false;
  return true;
}

template <class Source, int First = 0>
HWY_INLINE void run_from(const engine& e, const blocks& b, const kernels::table& kernels) {
  constexpr int left = static_cast<int>(lowered<Source>::tables.steps.size()) - First;
  if constexpr (left > 0) {
    run_some<Source, First>(std::make_integer_sequence<int, std::min(left, steps_per_function)>(),
                            e, b, kernels);
    run_from<Source, First + steps_per_function>(e, b, kernels);
  }
}

// The steps of the program that Source lowers to, on the engine's memory and arguments.
template <class Source>
HWY_INLINE void run_steps(const engine& e) {
  const blocks b{e.blocks(), e.inputs()};
  kernels::table kernels{};
  if constexpr (!all_generated<Source>()) kernels = kernels::best();
  run_from<Source>(e, b, kernels);
}

#endif

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
