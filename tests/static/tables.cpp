// Elements of arrays in graphs and programs have no initializers: clang takes neither time nor
// memory for elements that are zero by default, and tenths of a second and tens of megabytes per
// model for others.
#include <type_traits>

#include "weft/graph/graph.hpp"
#include "weft/lower/program.hpp"
#include "weft/passes/plan.hpp"
#include "weft/weft.hpp"

template <class... T>
constexpr bool are_zeros = (std::is_trivially_default_constructible_v<T> && ...);

static_assert(are_zeros<weft::node, weft::leaf, weft::output, weft::length_rule, weft::region>);
static_assert(are_zeros<weft::layout>);
static_assert(are_zeros<weft::instruction, weft::input_ref, weft::parameter_ref, weft::state_ref,
                        weft::bounds_check, weft::result_ref, weft::length_ref,
                        weft::length_rule_ref, weft::min_length, weft::shift_ref, weft::loop_ref,
                        weft::lowered_attention, weft::operand_ref, weft::kernels::fused_op>);

// g++ 12 took their tables for one type, since these have the same counts but for the zeros.
struct Some : weft::axis<3> {};
struct with_a_parameter {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Some>() + s.param<"y", Some>();
  }
};
struct with_a_state {
  constexpr auto operator()(weft::scope s) const {
    const auto y = s.state<"y", float, Some>();
    return s.input<"x", float, Some>() + y;
  }
};
template <class Model>
constexpr const auto& tables_of = weft::lowered<weft::inference<Model>>::tables;
static_assert(tables_of<with_a_parameter>.parameters.size() == 1 &&
              tables_of<with_a_parameter>.states.size() == 0);
static_assert(tables_of<with_a_state>.parameters.size() == 0 &&
              tables_of<with_a_state>.states.size() == 1);
