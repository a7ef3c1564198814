// What the operations of one class have in common: an entry of the operation table derives from its
// class, and says what differs. See graph/ops.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/graph/role.hpp"

namespace weft {

// The most elementwise operations of a fusion group, and the most operands from outside of it.
inline constexpr int max_fused_ops = 8, max_fused_inputs = 4;

// The rows over which a normalization's adjoint forms one partial sum of the gradients of gain and
// bias.
inline constexpr std::size_t rows_per_partial = 32;

enum class op_class : std::uint8_t {
  leaf,         // declared or constant: nothing is computed
  view,         // the operand's buffer with other axes, strides or offset
  source,       // computed from lengths alone
  elementwise,  // one element of the result from one element of each operand
  reduction,    // over axes that the result has not
  rowwise,      // over rows that the result has too
  contraction,  // a sum of products
  attention,    // fused: a softmax between two contractions
  rotation,     // of pairs of elements along an axis
  indexed,      // reads or writes by an operand of indices
  assembly,     // copies its operands into parts of the result
  scan          // the interface of a scan's body
};

// Properties that passes ask for.
namespace op_flag {
inline constexpr unsigned commutes = 1;       // the first two operands can be exchanged
inline constexpr unsigned expensive = 2;      // worth a buffer: hoisted, and never rematerialized
inline constexpr unsigned epilogue = 4;       // a contraction can apply it to its result
inline constexpr unsigned any_result = 8;     // every order of the result's axes is as fast
inline constexpr unsigned any_operands = 16;  // and so is every order of the operands'
inline constexpr unsigned any_indices = 32;   // the same for all operands but the first
inline constexpr unsigned any_length = 64;    // an element is the same at every length
}  // namespace op_flag

// The element types of an elementwise operation's operands and result.
enum class element_types : std::uint8_t {
  floats,      // all float32
  numbers,     // all float32, or all int32
  same,        // all of one type
  comparison,  // two float32 or two int32; the result is boolean
  equality,    // two of one type; the result is boolean
  booleans,    // all boolean
  mixed        // the operation's own
};

// How the axes of a result are ordered where the user does not see it; see
// passes/canonicalize_axis_order.hpp.
enum class axis_order : std::uint8_t {
  as_written,
  like_first,           // as the first operand's
  like_indices,         // as the second operand's, then the first's
  like_left_matrix,     // as the operand whose rows are contracted, then the other's
  like_widest,          // as the operand that has all axes
  through_view,         // each axis where the operand's axis is that it renames
  through_axis_change,  // as the first operand's, new axes where the replaced ones were
  through_concatenation
};

// The values that the tests draw for an operand: [low, high).
struct interval {
  double low, high;
};

// Said in an entry instead of a function `adjoint`: what reaches the operation is not
// differentiable, or is an adjoint itself and has no second derivative.
struct no_adjoint {};

namespace detail {

// What holds for an operation whose class and entry say nothing else. An entry without slots does
// not compile.
template <op_class Class>
struct operation_of_class {
  static constexpr op_class in = Class;
  // For the entry's slots: the node's value, and an operand that may be absent.
  static constexpr slot written{.what = role::result, .by = access::writes};
  static constexpr slot optional(role what) { return {.what = what, .is = presence::optional}; }
  static constexpr unsigned flags = 0;
  static constexpr axis_order order = axis_order::as_written;
  static constexpr element_types types = element_types::mixed;
  // Whether the result may be computed in place, in the buffer of operand `operand` of `operands`,
  // if both have the same axes, strides and bytes per element. True only if the kernels of every
  // SIMD target and generated code read each element of the operand before they write the result's
  // element of the same index, and never after. The memory plan reuses no other operand of an
  // intermediate.
  static constexpr bool reads_before_writing(int /*operands*/, int /*operand*/) { return false; }
};

}  // namespace detail

// Nothing is computed. The memory plan and the lowering know each leaf.
struct leaf_operation : detail::operation_of_class<op_class::leaf> {
  static constexpr slot slots[]{written};
  using adjoint = no_adjoint;
  static constexpr void lower(auto&, int) {}
};

// A view has a function view(v) that gives the memory plan its strides and offset; see
// passes/memory_layout.hpp. It computes nothing unless it owns a buffer.
struct view_operation : detail::operation_of_class<op_class::view> {
  static constexpr slot slots[]{written, {role::x}};
  static constexpr axis_order order = axis_order::through_axis_change;
  static constexpr void lower(auto&, int) {}
};

struct source_operation : detail::operation_of_class<op_class::source> {
  static constexpr slot slots[]{written};
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

namespace detail {

template <int Operands>
constexpr auto numbered_slots() {
  static_assert(static_cast<int>(role::z) == static_cast<int>(role::x) + 2, "x, y, z in a row");
  std::array<slot, 1 + Operands> slots{operation_of_class<op_class::elementwise>::written};
  for (int i = 0; i < Operands; ++i)
    slots[static_cast<std::size_t>(1 + i)].what = static_cast<role>(static_cast<int>(role::x) + i);
  return slots;
}

}  // namespace detail

// Operands are broadcast along the axes that they have not. Fusion groups of these keep their
// intermediates in buffers of their own, so that every operand can be overwritten.
template <int Operands, unsigned Flags = 0>
struct elementwise_operation : detail::operation_of_class<op_class::elementwise> {
  static constexpr auto slots = detail::numbered_slots<Operands>();
  static constexpr unsigned flags =
      Flags | op_flag::any_result | op_flag::any_operands | op_flag::any_length;
  static constexpr axis_order order = axis_order::like_widest;
  static constexpr bool reads_before_writing(int, int) { return true; }
  static constexpr element_types types = element_types::floats;
  static constexpr double flops_per_element = 1;
  // Where the operation is finite and differentiable.
  static constexpr interval domain(int /*operand*/) { return {-4, 4}; }
  static constexpr void lower(auto& ctx, int id) { lower_elementwise(ctx, id); }
};
template <unsigned Flags = 0>
using unary_operation = elementwise_operation<1, Flags>;
template <unsigned Flags = 0>
using binary_operation = elementwise_operation<2, Flags>;

// Over reduced_axes.
struct reduction_operation : detail::operation_of_class<op_class::reduction> {
  static constexpr slot slots[]{written, {role::x}, optional(role::factor)};
  static constexpr unsigned flags = op_flag::expensive;
  static constexpr axis_order order = axis_order::like_first;
  static constexpr double flops(const auto& g, const auto& n) {
    return static_cast<double>(g.nodes[n.operand[0]].axes.extent()) * n.operands;
  }
  static constexpr void lower(auto& ctx, int id) { lower_reduction(ctx, id); }
};

// Along row_axes, independently for each row. The last pass over a row reads each
// operand's element before it writes the result's.
struct rowwise_operation : detail::operation_of_class<op_class::rowwise> {
  static constexpr unsigned flags = op_flag::expensive;
  static constexpr axis_order order = axis_order::like_first;
  static constexpr bool reads_before_writing(int, int) { return true; }
  static constexpr void lower(auto& ctx, int id) { lower_rowwise(ctx, id); }
};

struct indexed_operation : detail::operation_of_class<op_class::indexed> {
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

struct assembly_operation : detail::operation_of_class<op_class::assembly> {
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

// See graph/scan.hpp. The adjoint of a scan is one of its whole body; see passes/differentiate.hpp.
struct scan_operation : detail::operation_of_class<op_class::scan> {
  using adjoint = no_adjoint;
  static constexpr double flops(const auto&, const auto&) { return 0; }
};

}  // namespace weft
