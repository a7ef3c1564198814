// The table of operations: what passes and kernels ask of one before they know how it is computed.
// How it is differentiated, simplified and lowered says its entry: see graph/ops.hpp, which kernels
// do not include.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "weft/graph/attention_slots.hpp"
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
  reduction,    // over axes that the result lacks
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
inline constexpr unsigned rare = 128;         // only programs with rare ones link its kernel
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

// What an operation calls its attributes where a graph is printed, by the fields of a node that
// operations share; null: it has none there. "" prints a number alone; two words are a choice
// between 0 and 1. Each word for axes is that of one, the last that of all others.
struct attribute_names {
  const char *named[4]{"along"}, *scalar[2]{}, *start[2]{}, *lowest[2]{}, *highest[2]{},
      *origin[2]{};
};

// What an operation is.
struct op_info {
  op kind;
  op_class in;
  const slot* slots;
  int slot_count;
  axis_order order;
  unsigned flags = 0;
  element_types types = element_types::mixed;
  int least = 0, most = 0;  // operands that a node may have
  attribute_names names{};

  constexpr op_info with(const attribute_names& n) const {
    op_info i = *this;
    i.names = n;
    return i;
  }
};

inline constexpr int op_count = static_cast<int>(op::scan_collect) + 1;

namespace detail::facts {

// For the slots of an operation: the node's value, and an operand that may be absent.
inline constexpr slot written{.what = role::result, .by = access::writes};
constexpr slot optional(role what) {
  return {.what = what, .is = presence::optional};
}
constexpr slot slot_of_operand(const slot& s) {
  return s;
}
constexpr slot slot_of_operand(role required) {
  return {.what = required};
}
template <auto... Operands>
inline constexpr slot slots_of[]{written, slot_of_operand(Operands)...};

// The operands of an operation are roles, or slots where they need not be there.
template <auto... Operands>
constexpr op_info operation(op k, op_class in, axis_order order, unsigned flags = 0) {
  return {k, in, slots_of<Operands...>, 1 + static_cast<int>(sizeof...(Operands)), order, flags};
}
constexpr op_info leaf(op k) {
  return operation<>(k, op_class::leaf, axis_order::as_written);
}
constexpr op_info view(op k, axis_order order = axis_order::through_axis_change,
                       unsigned flags = 0) {
  return operation<role::x>(k, op_class::view, order, flags);
}
// Operands are broadcast along the axes that they lack.
template <auto... Operands>
constexpr op_info elementwise(op k, unsigned flags = 0,
                              element_types types = element_types::floats) {
  const unsigned any = op_flag::any_result | op_flag::any_operands | op_flag::any_length;
  op_info i =
      operation<Operands...>(k, op_class::elementwise, axis_order::like_widest, flags | any);
  i.types = types;
  return i;
}
constexpr op_info unary(op k, unsigned flags = 0, element_types types = element_types::floats) {
  return elementwise<role::x>(k, flags, types);
}
constexpr op_info binary(op k, unsigned flags = 0, element_types types = element_types::floats) {
  return elementwise<role::x, role::y>(k, flags, types);
}
template <auto... Operands>
constexpr op_info rowwise(op k, unsigned flags = 0) {
  return operation<Operands...>(k, op_class::rowwise, axis_order::like_first,
                                op_flag::expensive | flags);
}
template <std::size_t Count>
constexpr op_info attends(op k, const std::array<slot, Count>& slots) {
  return {k,
          op_class::attention,
          slots.data(),
          static_cast<int>(Count),
          axis_order::as_written,
          op_flag::expensive};
}

using namespace op_flag;
using enum axis_order;
using enum element_types;
inline constexpr slot ids{.what = role::element_ids, .by = access::strides};
inline constexpr slot partial_sums{
    .what = role::partial_sums, .is = presence::optional, .by = access::own};
inline constexpr slot parts{.what = role::parts, .is = presence::repeated};
inline constexpr attribute_names epsilon{.scalar = {"epsilon"}},
    by_index{.origin = {"", "checked"}},
    part_of_whole{.named = {"along", "after"}, .start = {"from"}},
    windows{
        .named = {"along", "windows", "positions"}, .lowest = {"stride"}, .highest = {"dilation"}},
    fused{.named = {"keys", "depth", "values", "queries"},
          .scalar = {"soft_cap"},
          .start = {"lengths +"},
          .lowest = {"key - query >="},
          .highest = {"key - query <="},
          .origin = {"origin"}};
inline constexpr std::array table{
    leaf(op::input),
    leaf(op::parameter),
    leaf(op::state),
    leaf(op::constant).with({.scalar = {""}, .start = {"fault"}}),
    leaf(op::element_ids).with({.scalar = {"rate"}, .start = {"stream"}}),
    view(op::rename, through_view, any_length),
    view(op::within, through_view, any_length).with({.start = {"indices", "lengths"}}),
    view(op::stop_gradient, through_view, any_length),
    view(op::slice, through_view).with(part_of_whole),
    view(op::unfold).with(windows),
    view(op::split),
    view(op::merge),
    view(op::get_result, as_written).with({.start = {""}}),
    view(op::scan_slice),
    view(op::scan_result, as_written),
    operation<>(op::positions, op_class::source, as_written, any_length),
    operation<>(op::length, op_class::source, as_written),
    unary(op::copy, 0, same),
    unary(op::cast, rare, mixed),
    unary(op::negate, 0, numbers),
    unary(op::exp, expensive),
    unary(op::expm1, expensive | rare),
    unary(op::log, expensive | rare),
    unary(op::log1p, expensive | rare),
    unary(op::sqrt, expensive),
    unary(op::tanh, expensive | epilogue),
    unary(op::erf, expensive | rare),
    unary(op::sin, expensive | rare),
    unary(op::cos, expensive | rare),
    unary(op::round, rare),
    unary(op::sigmoid, expensive | epilogue),
    unary(op::relu, epilogue),
    unary(op::gelu, expensive | epilogue),
    unary(op::gelu_tanh, expensive | epilogue),
    unary(op::logical_not, rare, booleans),
    binary(op::add, commutes, numbers),
    binary(op::subtract, 0, numbers),
    binary(op::multiply, commutes, numbers),
    binary(op::divide),
    binary(op::maximum, commutes, numbers),
    binary(op::minimum, commutes, numbers),
    binary(op::pow, expensive | rare),
    binary(op::less, 0, comparison),
    binary(op::less_equal, 0, comparison),
    binary(op::equal, commutes | rare, equality),
    binary(op::not_equal, commutes | rare, equality),
    binary(op::logical_and, commutes | rare, booleans),
    binary(op::logical_or, commutes | rare, booleans),
    elementwise<role::x, ids>(op::dropout, rare, mixed),
    binary(op::relu_adjoint, rare),
    binary(op::gelu_adjoint, expensive | rare),
    binary(op::gelu_tanh_adjoint, expensive | rare),
    elementwise<role::x, role::y, role::z>(op::where, 0, mixed),
    operation<role::x, optional(role::factor)>(op::sum, op_class::reduction, like_first, expensive),
    operation<role::x, optional(role::factor)>(op::max, op_class::reduction, like_first,
                                               expensive | rare),
    rowwise<role::x, optional(role::mask)>(op::softmax),
    rowwise<role::x>(op::log_softmax),
    rowwise<role::x, optional(role::gain), optional(role::bias), optional(role::addend)>(
        op::normalize)
        .with(epsilon),
    rowwise<role::x, optional(role::gain), optional(role::bias), optional(role::addend)>(
        op::rms_normalize)
        .with(epsilon),
    rowwise<role::x>(op::cumulative_sum, rare),
    rowwise<role::x>(op::reverse_cumulative_sum, rare),
    rowwise<role::y, role::g>(op::softmax_adjoint, rare),
    rowwise<role::y, role::g, optional(role::indices)>(op::log_softmax_adjoint, rare),
    rowwise<role::x, role::g, optional(role::gain), optional(role::addend), partial_sums>(
        op::normalize_adjoint, rare)
        .with(epsilon),
    rowwise<role::x, role::g, optional(role::gain), optional(role::addend), partial_sums>(
        op::rms_normalize_adjoint, rare)
        .with(epsilon),
    operation<role::x>(op::norm_parameter_gradient, op_class::reduction, as_written)
        .with({.start = {"gain", "bias"}}),
    operation<role::left, role::right, optional(role::addend), optional(role::second_addend)>(
        op::dot, op_class::contraction, like_left_matrix, expensive | any_result),
    attends(op::attention, attention_slots).with(fused),
    attends(op::attention_adjoint, attention_adjoint_slots).with(fused),
    operation<role::x>(op::top_k, op_class::reduction, through_axis_change, expensive)
        .with({.named = {"along", "selected"}}),
    operation<role::table, role::indices>(op::gather, op_class::indexed, like_indices,
                                          expensive | any_result | any_indices)
        .with(by_index),
    operation<role::g, role::indices>(op::scatter_add, op_class::indexed, as_written,
                                      expensive | any_result | any_operands)
        .with(by_index),
    operation<role::buffer, role::rows, role::start, optional(role::count)>(
        op::update_rows, op_class::indexed, as_written)
        .with({.named = {"along", "rows"}, .start = {"ring"}}),
    operation<role::x, role::cosine, role::sine>(op::rotate, op_class::rotation, like_first)
        .with({.named = {"along", "pairs"}, .start = {"interleaved", "half_split"}}),
    operation<role::x, role::g>(op::rotate_adjoint, op_class::rotation, as_written)
        .with({.named = {"along", "pairs"},
               .scalar = {"cosine", "sine"},
               .start = {"interleaved", "half_split"}}),
    operation<parts>(op::concatenate, op_class::assembly, through_concatenation, any_operands),
    operation<role::x>(op::pad, op_class::assembly, through_view).with(part_of_whole),
    operation<role::x>(op::fold, op_class::assembly, as_written).with(windows),
    operation<role::initial>(op::carry, op_class::scan, as_written),
    operation<role::carry, role::value>(op::yield, op_class::scan, as_written),
    operation<role::value>(op::scan_collect, op_class::scan, as_written),
};
}  // namespace detail::facts

namespace detail {

// A plain array: passes ask so often that std::array's functions would cost them a twentieth.
struct facts_by_operation {
  op_info of[op_count]{};

  constexpr facts_by_operation() {
    for (const op_info& line : facts::table) {
      op_info& to = of[static_cast<int>(line.kind)] = line;
      for (int s = 0; s < line.slot_count; ++s) {
        const slot& here = line.slots[s];
        if (!is_operand(here)) continue;
        to.least += here.is != presence::optional;
        to.most += here.is == presence::repeated ? max_rank : 1;
      }
    }
  }
};
inline constexpr facts_by_operation op_table;

constexpr bool has_each_operation_once() {
  for (const op_info& i : op_table.of)
    if (i.slot_count < 1 || i.slot_count > max_slots) return false;
  return facts::table.size() == op_count;
}
static_assert(has_each_operation_once(),
              "operations: an operation has no line in graph/op_table.hpp, or has two");

// "tanh" for op::tanh, from what compilers print of a template argument.
template <op K>
constexpr std::string_view spelling() {
  std::string_view s = __PRETTY_FUNCTION__;
  s.remove_prefix(s.find("op::") + 4);
  return s.substr(0, s.find_first_of(";]"));
}

template <int... K>
struct op_names {
  static constexpr std::string_view of[sizeof...(K)]{spelling<static_cast<op>(K)>()...};
};
template <int... K>
constexpr op_names<K...> names_of(std::integer_sequence<int, K...>) {
  return {};
}

}  // namespace detail

// The most operands of one node.
inline constexpr int max_operands = [] {
  int most = 0;
  for (const op_info& i : detail::op_table.of) most = i.most > most ? i.most : most;
  return most;
}();

// Calls f.template operator()<K>() for the operation k: how a pass reaches a function of its entry.
// Each pass makes one table of pointers from it.
template <class F, int... K>
constexpr auto table_of_operations(F f, std::integer_sequence<int, K...>) {
  using pointer = decltype(f.template operator()<op::input>());
  struct {
    pointer of[sizeof...(K)];
    constexpr pointer operator[](op k) const { return of[static_cast<int>(k)]; }
  } table{{f.template operator()<static_cast<op>(K)>()...}};
  return table;
}
template <class F>
constexpr auto table_of_operations(F f) {
  return table_of_operations(f, std::make_integer_sequence<int, op_count>());
}

constexpr const op_info& info(op k) {
  return detail::op_table.of[static_cast<int>(k)];
}

constexpr std::string_view name_of(op k) {
  using names = decltype(detail::names_of(std::make_integer_sequence<int, op_count>()));
  return names::of[static_cast<int>(k)];
}
constexpr bool has_flag(op k, unsigned flag) {
  return (info(k).flags & flag) != 0;
}
constexpr bool is_leaf(op k) {
  return info(k).in == op_class::leaf;
}
constexpr bool is_view(op k) {
  return info(k).in == op_class::view;
}
constexpr bool is_elementwise(op k) {
  return info(k).in == op_class::elementwise;
}
// Whether the smaller one of two kernels computes it (kernels.hpp), with a result of this type.
constexpr bool is_frequent(op k, dtype result) {
  return !has_flag(k, op_flag::rare) && (is_elementwise(k) || result == dtype::float32);
}
constexpr int operands_of_elementwise(op k) {
  return info(k).slot_count - 1;
}
// The fewest and the most operands that a node may have.
constexpr int least_operands(op k) {
  return info(k).least;
}
constexpr int most_operands(op k) {
  return info(k).most;
}
// Attention or its adjoint.
constexpr bool is_attention(op k) {
  return info(k).in == op_class::attention;
}
constexpr bool is_comparison(op k) {
  return info(k).types == element_types::comparison || info(k).types == element_types::equality;
}
constexpr bool is_reduction(op k) {
  return info(k).in == op_class::reduction;
}
constexpr bool is_rowwise(op k) {
  return info(k).in == op_class::rowwise;
}
constexpr bool is_normalization(op k) {
  return k == op::normalize || k == op::rms_normalize;
}
constexpr op adjoint_of_normalization(op k) {
  return k == op::normalize ? op::normalize_adjoint : op::rms_normalize_adjoint;
}
constexpr bool is_adjoint_of_normalization(op k) {
  return k == op::normalize_adjoint || k == op::rms_normalize_adjoint;
}
constexpr op normalization_of_adjoint(op k) {
  return k == op::normalize_adjoint ? op::normalize : op::rms_normalize;
}
// Whether a normalization or its adjoint subtracts the mean of each row.
constexpr bool subtracts_mean(op k) {
  return k == op::normalize || k == op::normalize_adjoint;
}
// Whether the result may be computed in place, in the buffer of operand `operand` of `operands`, if
// both have the same axes, strides and bytes per element. True only if the kernels of every SIMD
// target and generated code read each element of the operand before they write the result's element
// of the same index, and never after. The memory plan reuses no other operand of an intermediate.
constexpr bool reads_before_writing(op k, int operands, int operand) {
  // x + addend is written into the result's row before gain and bias are read.
  if (is_normalization(k)) return operands < 4 || operand == 0 || operand == 3;
  return is_elementwise(k) || is_rowwise(k);
}

}  // namespace weft
#include "weft/header_end.hpp"
