// The table of operations. What one is stands in its entry, op_entry<op::...>, and nowhere else:
// passes, the cost model, the lowering and the tests ask the table. An entry derives from its class
// (op_class.hpp) and says what differs; an operation without one, or one that leaves something out,
// does not compile.
//
// The functions of an entry are templates over what they are given, so that the table includes
// neither graphs nor passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "weft/graph/attention_slots.hpp"
#include "weft/graph/op_class.hpp"
#include "weft/graph/ops_elementwise.hpp"
#include "weft/graph/ops_memory.hpp"
#include "weft/graph/ops_products.hpp"
#include "weft/graph/ops_rows.hpp"

namespace weft {

namespace detail {

// "tanh" for op::tanh, from what compilers print of a template argument.
template <op K>
constexpr std::string_view spelling() {
  std::string_view s = __PRETTY_FUNCTION__;
  s.remove_prefix(s.find("op::") + 4);
  return s.substr(0, s.find_first_of(";]"));
}

struct any_context {};

template <class Entry>
concept in_table = requires {
  Entry::in;
  Entry::flags;
  Entry::order;
  Entry::types;
};
template <class Entry>
concept says_slots = requires {
  std::size(Entry::slots);
};
template <class Entry>
concept says_adjoint = requires {
  typename Entry::adjoint;
}
|| requires {
  &Entry::template adjoint<any_context>;
};
template <class Entry>
concept says_flops = Entry::in == op_class::leaf || Entry::in == op_class::view || requires {
  Entry::flops_per_element;
}
|| requires {
  &Entry::template flops<any_context, any_context>;
};
template <class Entry>
concept says_view = Entry::in != op_class::view || requires {
  &Entry::template view<any_context>;
};

template <class Entry>
concept says_lowering = requires {
  &Entry::template lower<any_context>;
};

// What passes look up without instantiating an entry's functions.
struct op_info {
  std::string_view name;
  op_class in;
  const slot* slots;
  int slot_count;
  unsigned flags;
  axis_order order;
  element_types types;
  double flops_per_element;
  bool (*reads_before_writing)(int operands, int operand);
};

template <op K>
constexpr op_info checked_entry() {
  using entry = op_entry<K>;
  static_assert(
      in_table<entry>,
      "operations: an operation has no entry; write op_entry<op::...> in graph/ops_*.hpp");
  if constexpr (in_table<entry>) {
    static_assert(
        says_adjoint<entry>,
        "operations: an entry has no adjoint; write one, or `using adjoint = no_adjoint;`");
    static_assert(says_flops<entry>, "operations: an entry has no flops");
    static_assert(says_view<entry>, "operations: a view's entry has no function view");
    static_assert(says_lowering<entry>, "operations: an entry has no function lower");
    static_assert(says_slots<entry>,
                  "operations: an entry has no slots; list its operands by role");
    op_info i{.name = spelling<K>(),
              .in = entry::in,
              .slots = std::data(entry::slots),
              .slot_count = static_cast<int>(std::size(entry::slots)),
              .flags = entry::flags,
              .order = entry::order,
              .types = entry::types,
              .flops_per_element = 0,
              .reads_before_writing = &entry::reads_before_writing};
    static_assert(std::size(entry::slots) <= max_slots);
    if constexpr (requires { entry::flops_per_element; })
      i.flops_per_element = entry::flops_per_element;
    return i;
  } else {
    return {};
  }
}

template <int... K>
struct op_infos {
  static constexpr op_info of[sizeof...(K)]{checked_entry<static_cast<op>(K)>()...};
};
template <int... K>
constexpr op_infos<K...> infos_of(std::integer_sequence<int, K...>) {
  return {};
}

}  // namespace detail

inline constexpr int op_count = static_cast<int>(op::scan_collect) + 1;

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

constexpr const detail::op_info& info(op k) {
  return decltype(detail::infos_of(
      std::make_integer_sequence<int, op_count>()))::of[static_cast<int>(k)];
}

constexpr std::string_view name_of(op k) {
  return info(k).name;
}
constexpr bool has_flag(op k, unsigned flag) {
  return (info(k).flags & flag) != 0;
}
constexpr double flops_per_element_of(op k) {
  return info(k).flops_per_element;
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
constexpr int operands_of_elementwise(op k) {
  return info(k).slot_count - 1;
}
// The fewest and the most operands that a node may have.
constexpr int least_operands(op k) {
  int n = 0;
  for (int s = 0; s < info(k).slot_count; ++s)
    n += is_operand(info(k).slots[s]) && info(k).slots[s].is != presence::optional;
  return n;
}
constexpr int most_operands(op k) {
  int n = 0;
  for (int s = 0; s < info(k).slot_count; ++s)
    if (is_operand(info(k).slots[s])) n += info(k).slots[s].is == presence::repeated ? max_rank : 1;
  return n;
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
// See detail::operation_of_class.
constexpr bool reads_before_writing(op k, int operands, int operand) {
  return info(k).reads_before_writing(operands, operand);
}

}  // namespace weft
