// The attributes of a node by what they mean. Operations share the fields of a node, which passes
// copy and compare without asking what they are for; all other code uses these functions. One that
// returns a reference sets the attribute, too; the others are of an axis, whose list make_node
// takes, in the order in which the functions stand here. Each says which operations it is for; for
// all others the field has make_node's value.
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
template <op... Kinds>
constexpr void require_kind(const node& n) {
  if (((n.kind != Kinds) && ...)) the_operation_has_no_such_attribute();
}

constexpr void require_attention(const node& n) {
  if (info(n.kind).in != op_class::attention) the_operation_has_no_such_attribute();
}

}  // namespace detail

// ---- constant, get_result, element_ids

// constant: its elements.
constexpr auto& constant_value(any_node auto& n) {
  detail::require_kind<op::constant>(n);
  return n.scalar;
}
// constant: the model_fault of its value, which no element can have; 0: none.
constexpr auto& fault_of_value(any_node auto& n) {
  detail::require_kind<op::constant>(n);
  return n.start;
}
// get_result: the number of the result.
constexpr auto& result_index(any_node auto& n) {
  detail::require_kind<op::get_result>(n);
  return n.start;
}
// element_ids: the rate of the dropout, a multiple of 2^-24.
constexpr auto& dropout_rate(any_node auto& n) {
  detail::require_kind<op::element_ids>(n);
  return n.scalar;
}
// element_ids: the random stream, which is the number of the dropout in the model.
constexpr auto& rng_stream(any_node auto& n) {
  detail::require_kind<op::element_ids>(n);
  return n.start;
}

// ---- reductions and rowwise operations

// sum, max: the axes that the result has not.
constexpr auto& reduced_axes(any_node auto& n) {
  detail::require_kind<op::sum, op::max>(n);
  return n.named;
}
// Rowwise operations: the axes of a row, in the order in which the model names them.
constexpr auto& row_axes(any_node auto& n) {
  if (!is_rowwise(n.kind)) detail::the_operation_has_no_such_attribute();
  return n.named;
}
// Rowwise operations: added to the variance by normalizations and their adjoints; 0 for all others.
constexpr auto& epsilon_of(any_node auto& n) {
  if (!is_rowwise(n.kind)) detail::the_operation_has_no_such_attribute();
  return n.scalar;
}
// norm_parameter_gradient: 0: of the gain; 1: of the bias.
constexpr auto& norm_parameter(any_node auto& n) {
  detail::require_kind<op::norm_parameter_gradient>(n);
  return n.start;
}
// top_k: the axis whose greatest elements are selected, and that of the selected ones.
constexpr const axis_info* ranked_axis(const node& n) {
  detail::require_kind<op::top_k>(n);
  return n.named.at[0];
}
constexpr const axis_info* selected_axis(const node& n) {
  detail::require_kind<op::top_k>(n);
  return n.named.at[1];
}
// length: the axes whose lengths are multiplied.
constexpr auto& multiplied_axes(any_node auto& n) {
  detail::require_kind<op::length>(n);
  return n.named;
}

// ---- views and assembly

// rename: the operand's axis that gets another name; none after simplification.
constexpr auto& renamed_axes(any_node auto& n) {
  detail::require_kind<op::rename>(n);
  return n.named;
}
// within: the axis, and whether an element may be its length, as an index may not.
constexpr const axis_info* bounding_axis(const node& n) {
  detail::require_kind<op::within>(n);
  return n.named.at[0];
}
constexpr bool is_length(const node& n) {
  detail::require_kind<op::within>(n);
  return n.start != 0;
}
// split: the axes that one is split into, outermost first.
constexpr auto& split_axes(any_node auto& n) {
  detail::require_kind<op::split>(n);
  return n.named;
}
// merge: the axes that become one, outermost first.
constexpr auto& merged_axes(any_node auto& n) {
  detail::require_kind<op::merge>(n);
  return n.named;
}
// concatenate: for each operand, its axis that becomes part of the whole.
constexpr auto& concatenated_axes(any_node auto& n) {
  detail::require_kind<op::concatenate>(n);
  return n.named;
}
// slice, pad: the axis of the whole, then those whose lengths are added to the offset.
constexpr auto& slice_axes(any_node auto& n) {
  detail::require_kind<op::slice, op::pad>(n);
  return n.named;
}
constexpr const axis_info* sliced_axis(const node& n) {
  return slice_axes(n).at[0];
}
// slice, pad: the index in the whole at which the part begins, before lengths are added to it.
constexpr auto& slice_offset(any_node auto& n) {
  detail::require_kind<op::slice, op::pad>(n);
  return n.start;
}
// unfold, fold: the axis that windows lie on, that of the windows, and that of the positions in a
// window.
constexpr const axis_info* windowed_axis(const node& n) {
  detail::require_kind<op::unfold, op::fold>(n);
  return n.named.at[0];
}
constexpr const axis_info* axis_of_windows(const node& n) {
  detail::require_kind<op::unfold, op::fold>(n);
  return n.named.at[1];
}
constexpr const axis_info* axis_in_window(const node& n) {
  detail::require_kind<op::unfold, op::fold>(n);
  return n.named.at[2];
}
// unfold, fold: the distance from a window to the next.
constexpr auto& window_stride(any_node auto& n) {
  detail::require_kind<op::unfold, op::fold>(n);
  return n.lowest;
}
// unfold, fold: the distance from a position in a window to the next.
constexpr auto& window_dilation(any_node auto& n) {
  detail::require_kind<op::unfold, op::fold>(n);
  return n.highest;
}

// ---- by index

// gather: an axis of the table; scatter_add: of the result; log_softmax_adjoint with indices: that
// of a row.
constexpr const axis_info* indexed_axis(const node& n) {
  if (!has(n, role::indices)) detail::the_operation_has_no_such_attribute();
  return n.named.at[0];
}
// gather, scatter_add: 1: an index outside of indexed_axis is an error of the run; 0: it gives 0,
// or its element is left out.
constexpr auto& refuses_outside(any_node auto& n) {
  detail::require_kind<op::gather, op::scatter_add>(n);
  return n.origin;
}
constexpr bool refuses_indices(const node& n) {
  return (n.kind == op::gather || n.kind == op::scatter_add) && refuses_outside(n) != 0;
}
// update_rows: the axis of the buffer that rows are written along, and that of the rows.
constexpr const axis_info* updated_axis(const node& n) {
  detail::require_kind<op::update_rows>(n);
  return n.named.at[0];
}
constexpr const axis_info* axis_of_rows(const node& n) {
  detail::require_kind<op::update_rows>(n);
  return n.named.at[1];
}
// scan_slice, scan_collect.
constexpr const axis_info* scanned_axis(const node& n) {
  detail::require_kind<op::scan_slice, op::scan_collect>(n);
  return n.named.at[0];
}

// ---- rotate and its adjoint

// The axis whose elements are rotated in pairs, and that of the pairs.
constexpr const axis_info* rotated_axis(const node& n) {
  detail::require_kind<op::rotate, op::rotate_adjoint>(n);
  return n.named.at[0];
}
constexpr const axis_info* axis_of_pairs(const node& n) {
  detail::require_kind<op::rotate, op::rotate_adjoint>(n);
  return n.named.at[1];
}
// Which elements are a pair: a rotary_pairs, see rotation.hpp.
constexpr auto& pairing_of(any_node auto& n) {
  detail::require_kind<op::rotate, op::rotate_adjoint>(n);
  return n.start;
}
// rotate_adjoint: 0: the gradient of the cosine; 1: of the sine. 0 for rotate.
constexpr auto& rotation_factor(any_node auto& n) {
  detail::require_kind<op::rotate, op::rotate_adjoint>(n);
  return n.scalar;
}

// ---- attention and its adjoint; see attention.hpp

constexpr const axis_info* key_axis(const node& n) {
  detail::require_attention(n);
  return n.named.at[0];
}
constexpr const axis_info* depth_axis(const node& n) {
  detail::require_attention(n);
  return n.named.at[1];
}
constexpr const axis_info* value_axis(const node& n) {
  detail::require_attention(n);
  return n.named.at[2];
}
// Null where there is a single query.
constexpr const axis_info* query_axis(const node& n) {
  detail::require_attention(n);
  return n.named.count > 3 ? n.named.at[3] : nullptr;
}
// 0: no soft cap.
constexpr auto& soft_cap_of(any_node auto& n) {
  detail::require_attention(n);
  return n.scalar;
}
// The band: the least and the greatest distance, key - query position, that is visible.
constexpr auto& band_lowest(any_node auto& n) {
  detail::require_attention(n);
  return n.lowest;
}
constexpr auto& band_highest(any_node auto& n) {
  detail::require_attention(n);
  return n.highest;
}
// Added to the operand role::lengths.
constexpr auto& length_more(any_node auto& n) {
  detail::require_attention(n);
  return n.start;
}
// The index into the relative bias of a key at the query's position.
constexpr auto& relative_origin(any_node auto& n) {
  detail::require_attention(n);
  return n.origin;
}

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
