// Elements of arrays in graphs and programs have no initializers: clang takes neither time nor
// memory for elements that are zero by default, and tenths of a second and tens of megabytes per
// model for others.
#include <type_traits>

#include "weft/graph/graph.hpp"
#include "weft/lower/program.hpp"
#include "weft/passes/plan.hpp"

template <class... T>
constexpr bool are_zeros = (std::is_trivially_default_constructible_v<T> && ...);

static_assert(are_zeros<weft::node, weft::leaf, weft::output, weft::length_rule, weft::region>);
static_assert(are_zeros<weft::layout>);
static_assert(are_zeros<weft::instruction, weft::input_ref, weft::parameter_ref, weft::state_ref,
                        weft::bounds_check, weft::result_ref, weft::length_ref,
                        weft::length_rule_ref, weft::min_length, weft::shift_ref, weft::loop_ref,
                        weft::attention_ref, weft::kernels::fused_op>);
