// The operands and results of attention and of its adjoint. All that handles them walks this list,
// or does not compile with an operand that it leaves out: see handles_operands_of_attention. An
// operand is added here, to the pattern that finds it (passes/match_attention.hpp), and to kernels.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "weft/graph/role.hpp"

namespace weft {

namespace detail {

// Those of the adjoint, of which the attention has the first ones, up to the statistics.
namespace attention_list {
inline constexpr unsigned queries = over::batch | over::query, keys = over::batch | over::key,
                          scores = queries | over::key;
inline constexpr presence optional = presence::optional;
inline constexpr slot of_adjoint[]{
    {.what = role::result, .loops = queries | over::value},
    {.what = role::query, .loops = queries | over::depth},
    {.what = role::key, .loops = keys | over::depth},
    {.what = role::value, .loops = keys | over::value},
    // True: the key is visible.
    {.what = role::mask, .is = optional, .loops = scores, .type = dtype::boolean},
    {.what = role::bias, .is = optional, .loops = scores, .flops_per_pair = 1},
    // The key position of the first query.
    {.what = role::offset, .is = optional, .loops = over::batch, .type = dtype::int32},
    // Keys before the begin are hidden, and those from the length on.
    {.what = role::begins, .is = optional, .loops = queries, .type = dtype::int32},
    {.what = role::lengths, .is = optional, .loops = queries, .type = dtype::int32},
    // A table of biases by the distance from query to key.
    {.what = role::relative,
     .is = optional,
     .loops = queries | over::distance,
     .flops_per_pair = 1},
    // One more score, without a key.
    {.what = role::sink, .is = optional, .loops = queries},
    // Of the weights, where some are dropped.
    {.what = role::element_ids,
     .is = optional,
     .by = access::strides,
     .loops = scores,
     .flops_per_pair = 1},
    // The log-sum-exp of each row of scores.
    {.what = role::statistics, .by = access::of_result, .loops = queries},
    {.what = role::g, .loops = queries | over::value},
    {.what = role::query_gradient, .by = access::own, .gradient_of = role::query},
    {.what = role::key_gradient, .by = access::own, .gradient_of = role::key},
    {.what = role::value_gradient, .by = access::own, .gradient_of = role::value},
    {.what = role::bias_gradient, .by = access::own, .gradient_of = role::bias},
    {.what = role::relative_gradient, .by = access::own, .gradient_of = role::relative},
    {.what = role::sink_gradient, .by = access::own, .gradient_of = role::sink}};
}  // namespace attention_list

inline constexpr std::size_t adjoint_slot_count = std::size(attention_list::of_adjoint);
inline constexpr std::size_t attention_slot_count = [] {
  std::size_t n = 1;
  while (attention_list::of_adjoint[n - 1].what != role::statistics) ++n;
  return n;
}();

template <std::size_t Count>
constexpr std::array<slot, Count> filled_in() {
  std::array<slot, Count> slots{};
  for (std::size_t i = 0; i < Count; ++i) {
    slot& here = slots[i] = attention_list::of_adjoint[i];
    if (Count == attention_slot_count) {
      if (here.what == role::result) here.by = access::writes;
      if (here.what == role::statistics) here.by = access::own;
      here.narrow = here.what == role::key || here.what == role::value;
    }
    if (!is_gradient(here)) continue;
    const slot* of = slots.data();
    while (of->what != here.gradient_of) ++of;
    here.slot_of_it = static_cast<int>(of - slots.data());
    here.is = of->is;
    here.loops = of->loops;
    here.flops_per_pair = of->flops_per_pair;
  }
  return slots;
}

constexpr bool contains(std::initializer_list<role> all, role one) {
  for (const role r : all)
    if (r == one) return true;
  return false;
}

}  // namespace detail

inline constexpr auto attention_slots = detail::filled_in<detail::attention_slot_count>();
inline constexpr auto attention_adjoint_slots = detail::filled_in<detail::adjoint_slot_count>();

namespace detail {
inline constexpr auto attention_slot_of_role = [] {  // kernels look one up for each access
  std::array<std::int8_t, role_count> of{};
  for (std::size_t s = 0; s < attention_adjoint_slots.size(); ++s)
    of[static_cast<std::size_t>(attention_adjoint_slots[s].what)] = static_cast<std::int8_t>(s);
  return of;
}();
}  // namespace detail

// The index of an operand: its slot of attention or of the adjoint, which are the same.
constexpr int attention_slot(role what) {
  return detail::attention_slot_of_role[static_cast<std::size_t>(what)];
}

// Whether `handled` has every operand of attention; and every operand that has a gradient. What
// handles them one by one asserts it, so that no operand is ignored, which would be wrong numbers.
constexpr bool handles_operands_of_attention(std::initializer_list<role> handled) {
  for (const slot& s : attention_slots)
    if (is_operand(s) && !detail::contains(handled, s.what)) return false;
  return true;
}
constexpr bool handles_gradients_of_attention(std::initializer_list<role> handled) {
  for (const slot& s : attention_adjoint_slots)
    if (is_gradient(s) && !detail::contains(handled, s.gradient_of)) return false;
  return true;
}

}  // namespace weft
#include "weft/header_end.hpp"
