// The attributes of a node by what they mean. Operations share the fields of a node, which passes
// copy and compare without asking what they are for; all other code uses these functions. One that
// returns a reference sets the attribute, too; the others are of an axis, whose list make_node
// takes, in the order in which the functions stand here. Each says which operations it is for,
// whose lines in op_table.hpp name it; for all others the field has make_node's value.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/fault.hpp"
#include "weft/graph/operands.hpp"

namespace weft {

namespace detail {

// Not constexpr: where constant evaluation reaches it, the compiler prints its name as the error.
inline void the_operation_has_no_such_attribute() {
  detail::fault("graph: the operation has no such attribute");
}
// A field that operations share, of nodes of these; Words is what their lines call it.
template <auto Field, auto Words, op... Kinds>
struct attribute {
  constexpr auto& operator()(any_node auto& n) const {
    static_assert(((info(Kinds).names.*Words)[0] && ...),
                  "operations: an attribute has no name; give it in the operation's line of "
                  "graph/op_table.hpp");
    if (((n.kind != Kinds) && ...)) the_operation_has_no_such_attribute();
    return n.*Field;
  }
};
// The attributes that nodes of these operations may have.
template <op... Kinds>
struct of {
  using axes = attribute<&node::named, &attribute_names::named, Kinds...>;
  using scalar = attribute<&node::scalar, &attribute_names::scalar, Kinds...>;
  using start = attribute<&node::start, &attribute_names::start, Kinds...>;
  using lowest = attribute<&node::lowest, &attribute_names::lowest, Kinds...>;
  using highest = attribute<&node::highest, &attribute_names::highest, Kinds...>;
  using origin = attribute<&node::origin, &attribute_names::origin, Kinds...>;
  // One of the axes.
  template <int At>
  struct axis {
    constexpr const axis_info* operator()(const node& n) const { return axes()(n).at[At]; }
  };
};
using of_windows = of<op::unfold, op::fold>;
using of_parts = of<op::slice, op::pad>;
using of_rotation = of<op::rotate, op::rotate_adjoint>;
using of_attention = of<op::attention, op::attention_adjoint>;

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

// ---- constant, get_result, element_ids

// constant: its elements.
inline constexpr detail::of<op::constant>::scalar constant_value;
// constant: the model_fault of its value, which no element can have; 0: none.
inline constexpr detail::of<op::constant>::start fault_of_value;
// get_result: the number of the result.
inline constexpr detail::of<op::get_result>::start result_index;
// element_ids: the rate of the dropout, a multiple of 2^-24.
inline constexpr detail::of<op::element_ids>::scalar dropout_rate;
// element_ids: the random stream, which is the number of the dropout in the model.
inline constexpr detail::of<op::element_ids>::start rng_stream;

// ---- reductions and rowwise operations

// sum, max: the axes that the result lacks.
inline constexpr detail::of<op::sum, op::max>::axes reduced_axes;
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
inline constexpr detail::of<op::norm_parameter_gradient>::start norm_parameter;
// top_k: the axis whose greatest elements are selected, and that of the selected ones.
inline constexpr detail::of<op::top_k>::axis<0> ranked_axis;
inline constexpr detail::of<op::top_k>::axis<1> selected_axis;
// length: the axes whose lengths are multiplied.
inline constexpr detail::of<op::length>::axes multiplied_axes;

// ---- views and assembly

// rename: the operand's axis that gets another name; none after simplification.
inline constexpr detail::of<op::rename>::axes renamed_axes;
// within: the axis, and whether an element may be its length, as an index may not.
inline constexpr detail::of<op::within>::axis<0> bounding_axis;
inline constexpr detail::of<op::within>::start is_length;
// split: the axes that one is split into, outermost first.
inline constexpr detail::of<op::split>::axes split_axes;
// merge: the axes that become one, outermost first.
inline constexpr detail::of<op::merge>::axes merged_axes;
// concatenate: for each operand, its axis that becomes part of the whole.
inline constexpr detail::of<op::concatenate>::axes concatenated_axes;
// slice, pad: the axis of the whole, then those whose lengths are added to the offset.
inline constexpr detail::of_parts::axes slice_axes;
constexpr const axis_info* sliced_axis(const node& n) {
  return slice_axes(n).at[0];
}
// slice, pad: the index in the whole at which the part begins, before lengths are added to it.
inline constexpr detail::of_parts::start slice_offset;
// unfold, fold: the axis that windows lie on, that of the windows, and that of the positions in a
// window.
inline constexpr detail::of_windows::axis<0> windowed_axis;
inline constexpr detail::of_windows::axis<1> axis_of_windows;
inline constexpr detail::of_windows::axis<2> axis_in_window;
// unfold, fold: the distance from a window to the next.
inline constexpr detail::of_windows::lowest window_stride;
// unfold, fold: the distance from a position in a window to the next.
inline constexpr detail::of_windows::highest window_dilation;

// ---- by index

// gather: an axis of the table; scatter_add: of the result; log_softmax_adjoint with indices: that
// of a row.
constexpr const axis_info* indexed_axis(const node& n) {
  if (!has(n, role::indices)) detail::the_operation_has_no_such_attribute();
  return n.named.at[0];
}
// gather, scatter_add: 1: an index outside of indexed_axis is an error of the run; 0: it gives 0,
// or its element is left out.
inline constexpr detail::of<op::gather, op::scatter_add>::origin refuses_outside;
constexpr bool refuses_indices(const node& n) {
  return (n.kind == op::gather || n.kind == op::scatter_add) && refuses_outside(n) != 0;
}
// update_rows: the axis of the buffer that rows are written along, and that of the rows.
inline constexpr detail::of<op::update_rows>::axis<0> updated_axis;
inline constexpr detail::of<op::update_rows>::axis<1> axis_of_rows;
// update_rows: how far back rows beyond the buffer's end wrap around; 0: they do not.
inline constexpr detail::of<op::update_rows>::start ring_length;
// scan_slice, scan_collect.
inline constexpr detail::of<op::scan_slice, op::scan_collect>::axis<0> scanned_axis;

// ---- rotate and its adjoint

// The axis whose elements are rotated in pairs, and that of the pairs.
inline constexpr detail::of_rotation::axis<0> rotated_axis;
inline constexpr detail::of_rotation::axis<1> axis_of_pairs;
// Which elements are a pair: a rotary_pairs, see rotation.hpp.
inline constexpr detail::of_rotation::start pairing_of;
// rotate_adjoint: 0: the gradient of the cosine; 1: of the sine.
inline constexpr detail::of<op::rotate_adjoint>::scalar rotation_factor;

// ---- attention and its adjoint; see attention.hpp

inline constexpr detail::of_attention::axis<0> key_axis;
inline constexpr detail::of_attention::axis<1> depth_axis;
inline constexpr detail::of_attention::axis<2> value_axis;
// Null where there is a single query.
constexpr const axis_info* query_axis(const node& n) {
  return detail::of_attention::axes()(n).count > 3 ? n.named.at[3] : nullptr;
}
// 0: no soft cap.
inline constexpr detail::of_attention::scalar soft_cap_of;
// The band: the least and the greatest distance, key - query position, that is visible.
inline constexpr detail::of_attention::lowest band_lowest;
inline constexpr detail::of_attention::highest band_highest;
// Added to the operand role::lengths.
inline constexpr detail::of_attention::start length_more;
// The index into the relative bias of a key at the query's position.
inline constexpr detail::of_attention::origin relative_origin;

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
#include "weft/header_end.hpp"
