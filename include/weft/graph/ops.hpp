// The entries of operations: op_entry<op::...> says how one is differentiated, simplified and
// lowered, what it costs, and, of a view, what it aliases. An entry derives from its class
// (op_class.hpp) and says what differs; an operation without one, or one that leaves something out,
// does not compile. What an operation is says its line of op_table.hpp.
//
// The functions of an entry are templates over what they are given, so that entries include neither
// graphs nor passes.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/graph/op_table.hpp"
#include "weft/graph/ops_elementwise.hpp"
#include "weft/graph/ops_memory.hpp"
#include "weft/graph/ops_products.hpp"
#include "weft/graph/ops_rows.hpp"

namespace weft {

namespace detail {

struct any_context {};

template <op K>
concept has_entry = requires {
  sizeof(op_entry<K>);
};
template <class Entry>
concept says_adjoint = requires {
  typename Entry::adjoint;
}
|| requires {
  &Entry::template adjoint<any_context>;
};
template <class Entry>
concept says_flops = requires {
  Entry::flops_per_element;
}
|| requires {
  &Entry::template flops<any_context, any_context>;
};
template <class Entry>
concept says_view = requires {
  &Entry::template view<any_context>;
};

template <class Entry>
concept says_lowering = requires {
  &Entry::template lower<any_context>;
};

// The operations of an element, as far as the entry says them for all nodes alike.
struct flops_of_checked_entry {
  template <op K>
  constexpr double operator()() const {
    using entry = op_entry<K>;
    static_assert(
        has_entry<K>,
        "operations: an operation has no entry; write op_entry<op::...> in graph/ops_*.hpp");
    if constexpr (has_entry<K>) {
      static_assert(
          says_adjoint<entry>,
          "operations: an entry has no adjoint; write one, or `using adjoint = no_adjoint;`");
      static_assert(is_leaf(K) || is_view(K) || says_flops<entry>,
                    "operations: an entry has no flops");
      static_assert(!is_view(K) || says_view<entry>,
                    "operations: a view's entry has no function view");
      static_assert(says_lowering<entry>, "operations: an entry has no function lower");
      if constexpr (requires { entry::flops_per_element; }) return entry::flops_per_element;
    }
    return 0;
  }
};
inline constexpr auto flops_per_element = table_of_operations(flops_of_checked_entry());

}  // namespace detail

constexpr double flops_per_element_of(op k) {
  return detail::flops_per_element[k];
}

}  // namespace weft
#include "weft/header_end.hpp"
