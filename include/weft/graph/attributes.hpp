// The attributes of a node by what they mean. Operations share the fields of a node, which passes
// copy and compare without asking what they are for; all other code uses these functions. One that
// returns a reference sets the attribute, too; the others are of an axis, whose list make_node
// takes, in the order in which the functions stand here. Each says which operations it is for,
// whose lines in op_table.hpp name it; for all others the field has make_node's value.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "weft/graph/operands.hpp"

namespace weft {

namespace detail {

// Not constexpr: where constant evaluation reaches it, the compiler prints its name as the error.
inline void the_operation_has_no_such_attribute() {
  throw std::logic_error("graph: the operation has no such attribute");
}
// scalar_of<op::constant>(n) is the field of a node of one of the operations listed.
#define WEFT_FIELD(field)                                                                     \
  template <op... Kinds>                                                                      \
  constexpr auto& field##_of(any_node auto& n) {                                              \
    static_assert((info(Kinds).names.field[0] && ...),                                        \
                  "operations: an attribute has no name; give it in the operation's line of " \
                  "graph/op_table.hpp");                                                      \
    if (((n.kind != Kinds) && ...)) the_operation_has_no_such_attribute();                    \
    return n.field;                                                                           \
  }
WEFT_FIELD(named)
WEFT_FIELD(scalar)
WEFT_FIELD(start)
WEFT_FIELD(lowest)
WEFT_FIELD(highest)
WEFT_FIELD(origin)
#undef WEFT_FIELD

// Calls f(words, value, that of make_node) for each number that operations share fields for.
template <class F>
constexpr void for_each_number(const node& n, F f) {
  const attribute_names& names = info(n.kind).names;
  const node plain = make_node(n.kind);
  f(names.scalar, n.scalar, plain.scalar);
  f(names.start, n.start, plain.start);
  f(names.lowest, n.lowest, plain.lowest);
  f(names.highest, n.highest, plain.highest);
  f(names.origin, n.origin, plain.origin);
}

}  // namespace detail

// The functions of one field, and of one of the axes that a node names, of these operations.
#define WEFT_ATTRIBUTE(name, field, ...)       \
  constexpr auto& name(any_node auto& n) {     \
    return detail::field##_of<__VA_ARGS__>(n); \
  }
#define WEFT_AXIS(name, at_, ...)                    \
  constexpr const axis_info* name(const node& n) {   \
    return detail::named_of<__VA_ARGS__>(n).at[at_]; \
  }

// ---- constant, get_result, element_ids

// constant: its elements.
WEFT_ATTRIBUTE(constant_value, scalar, op::constant)
// constant: the model_fault of its value, which no element can have; 0: none.
WEFT_ATTRIBUTE(fault_of_value, start, op::constant)
// get_result: the number of the result.
WEFT_ATTRIBUTE(result_index, start, op::get_result)
// element_ids: the rate of the dropout, a multiple of 2^-24.
WEFT_ATTRIBUTE(dropout_rate, scalar, op::element_ids)
// element_ids: the random stream, which is the number of the dropout in the model.
WEFT_ATTRIBUTE(rng_stream, start, op::element_ids)

// ---- reductions and rowwise operations

// sum, max: the axes that the result has not.
WEFT_ATTRIBUTE(reduced_axes, named, op::sum, op::max)
// Rowwise operations: the axes of a row, in the order in which the model names them.
constexpr auto& row_axes(any_node auto& n) {
  if (!is_rowwise(n.kind)) detail::the_operation_has_no_such_attribute();
  return n.named;
}
// Rowwise operations: added to the variance by normalizations and their adjoints; 0 for all others.
constexpr double epsilon_of(const node& n) {
  if (!is_rowwise(n.kind)) detail::the_operation_has_no_such_attribute();
  return n.scalar;
}
// norm_parameter_gradient: 0: of the gain; 1: of the bias.
WEFT_ATTRIBUTE(norm_parameter, start, op::norm_parameter_gradient)
// top_k: the axis whose greatest elements are selected, and that of the selected ones.
WEFT_AXIS(ranked_axis, 0, op::top_k)
WEFT_AXIS(selected_axis, 1, op::top_k)
// length: the axes whose lengths are multiplied.
WEFT_ATTRIBUTE(multiplied_axes, named, op::length)

// ---- views and assembly

// rename: the operand's axis that gets another name; none after simplification.
WEFT_ATTRIBUTE(renamed_axes, named, op::rename)
// within: the axis, and whether an element may be its length, as an index may not.
WEFT_AXIS(bounding_axis, 0, op::within)
WEFT_ATTRIBUTE(is_length, start, op::within)
// split: the axes that one is split into, outermost first.
WEFT_ATTRIBUTE(split_axes, named, op::split)
// merge: the axes that become one, outermost first.
WEFT_ATTRIBUTE(merged_axes, named, op::merge)
// concatenate: for each operand, its axis that becomes part of the whole.
WEFT_ATTRIBUTE(concatenated_axes, named, op::concatenate)
// slice, pad: the axis of the whole, then those whose lengths are added to the offset.
WEFT_ATTRIBUTE(slice_axes, named, op::slice, op::pad)
constexpr const axis_info* sliced_axis(const node& n) {
  return slice_axes(n).at[0];
}
// slice, pad: the index in the whole at which the part begins, before lengths are added to it.
WEFT_ATTRIBUTE(slice_offset, start, op::slice, op::pad)
// unfold, fold: the axis that windows lie on, that of the windows, and that of the positions in a
// window.
WEFT_AXIS(windowed_axis, 0, op::unfold, op::fold)
WEFT_AXIS(axis_of_windows, 1, op::unfold, op::fold)
WEFT_AXIS(axis_in_window, 2, op::unfold, op::fold)
// unfold, fold: the distance from a window to the next.
WEFT_ATTRIBUTE(window_stride, lowest, op::unfold, op::fold)
// unfold, fold: the distance from a position in a window to the next.
WEFT_ATTRIBUTE(window_dilation, highest, op::unfold, op::fold)

// ---- by index

// gather: an axis of the table; scatter_add: of the result; log_softmax_adjoint with indices: that
// of a row.
constexpr const axis_info* indexed_axis(const node& n) {
  if (!has(n, role::indices)) detail::the_operation_has_no_such_attribute();
  return n.named.at[0];
}
// gather, scatter_add: 1: an index outside of indexed_axis is an error of the run; 0: it gives 0,
// or its element is left out.
WEFT_ATTRIBUTE(refuses_outside, origin, op::gather, op::scatter_add)
constexpr bool refuses_indices(const node& n) {
  return (n.kind == op::gather || n.kind == op::scatter_add) && refuses_outside(n) != 0;
}
// update_rows: the axis of the buffer that rows are written along, and that of the rows.
WEFT_AXIS(updated_axis, 0, op::update_rows)
WEFT_AXIS(axis_of_rows, 1, op::update_rows)
// scan_slice, scan_collect.
WEFT_AXIS(scanned_axis, 0, op::scan_slice, op::scan_collect)

// ---- rotate and its adjoint

// The axis whose elements are rotated in pairs, and that of the pairs.
WEFT_AXIS(rotated_axis, 0, op::rotate, op::rotate_adjoint)
WEFT_AXIS(axis_of_pairs, 1, op::rotate, op::rotate_adjoint)
// Which elements are a pair: a rotary_pairs, see rotation.hpp.
WEFT_ATTRIBUTE(pairing_of, start, op::rotate, op::rotate_adjoint)
// rotate_adjoint: 0: the gradient of the cosine; 1: of the sine.
WEFT_ATTRIBUTE(rotation_factor, scalar, op::rotate_adjoint)

// ---- attention and its adjoint; see attention.hpp

WEFT_AXIS(key_axis, 0, op::attention, op::attention_adjoint)
WEFT_AXIS(depth_axis, 1, op::attention, op::attention_adjoint)
WEFT_AXIS(value_axis, 2, op::attention, op::attention_adjoint)
// Null where there is a single query.
constexpr const axis_info* query_axis(const node& n) {
  return detail::named_of<op::attention, op::attention_adjoint>(n).count > 3 ? n.named.at[3]
                                                                             : nullptr;
}
// 0: no soft cap.
WEFT_ATTRIBUTE(soft_cap_of, scalar, op::attention, op::attention_adjoint)
// The band: the least and the greatest distance, key - query position, that is visible.
WEFT_ATTRIBUTE(band_lowest, lowest, op::attention, op::attention_adjoint)
WEFT_ATTRIBUTE(band_highest, highest, op::attention, op::attention_adjoint)
// Added to the operand role::lengths.
WEFT_ATTRIBUTE(length_more, start, op::attention, op::attention_adjoint)
// The index into the relative bias of a key at the query's position.
WEFT_ATTRIBUTE(relative_origin, origin, op::attention, op::attention_adjoint)

#undef WEFT_ATTRIBUTE
#undef WEFT_AXIS

// ---- adjoints of normalizations
//
// The gradient of the gain is the sum over all rows of g * normalize(x), that of a bias the sum of
// g (Ba et al. 2016, equation 4, differentiated). Asked for role::partial_sums, an adjoint
// computes both in its pass over the rows and stores them after its result: one partial sum for
// each rows_per_partial rows, regardless of the number of threads, those of the gain first.
// norm_parameter_gradient adds them up: for the gain or for the bias, as norm_parameter says.

constexpr bool has_partial_sums(const node& n) {
  return is_adjoint_of_normalization(n.kind) && has(n, role::partial_sums);
}

// The axes of a row, in the order of the result.
constexpr axis_list row_axes_in_order(const node& rowwise) {
  axis_list row{};
  for (int i = 0; i < rowwise.axes.count; ++i)
    if (row_axes(rowwise).contains(rowwise.axes.at[i])) row.push(rowwise.axes.at[i]);
  return row;
}

// The number of partial sums with every length at its bound.
constexpr std::size_t partial_count(const node& rowwise) {
  const std::size_t rows = rowwise.axes.extent() / row_axes_in_order(rowwise).extent();
  return (rows + rows_per_partial - 1) / rows_per_partial;
}

}  // namespace weft
