// The operands and results of attention and of its adjoint. All that handles them walks this list:
// an operand is added here, to the pattern that finds it (passes/match_attention.hpp), and to
// kernels.
#pragma once

#include <array>
#include <cstddef>

#include "weft/graph/role.hpp"

namespace weft {

namespace detail {

// Those of the adjoint, of which the attention has the first ones, up to the statistics.
inline constexpr std::size_t attention_slot_count = 13, adjoint_slot_count = 20;

template <std::size_t Count>
constexpr std::array<slot, Count> attention_slots() {
  constexpr bool adjoint = Count == adjoint_slot_count;
  constexpr presence optional = presence::optional;
  constexpr unsigned queries = over::batch | over::query, keys = over::batch | over::key,
                     scores = queries | over::key;
  const slot all[adjoint_slot_count]{
      {.what = role::result,
       .by = adjoint ? access::reads : access::writes,
       .loops = queries | over::value},
      {.what = role::query, .loops = queries | over::depth},
      {.what = role::key, .loops = keys | over::depth, .narrow = !adjoint},
      {.what = role::value, .loops = keys | over::value, .narrow = !adjoint},
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
      {.what = role::statistics, .by = adjoint ? access::of_result : access::own, .loops = queries},
      {.what = role::g, .loops = queries | over::value},
      {.what = role::query_gradient, .by = access::own, .gradient_of = role::query},
      {.what = role::key_gradient, .by = access::own, .gradient_of = role::key},
      {.what = role::value_gradient, .by = access::own, .gradient_of = role::value},
      {.what = role::bias_gradient, .by = access::own, .gradient_of = role::bias},
      {.what = role::relative_gradient, .by = access::own, .gradient_of = role::relative},
      {.what = role::sink_gradient, .by = access::own, .gradient_of = role::sink}};
  std::array<slot, Count> slots{};
  for (std::size_t i = 0; i < Count; ++i) {
    slots[i] = all[i];
    if (!is_gradient(all[i])) continue;
    int of = 0;
    while (all[of].what != all[i].gradient_of) ++of;
    slots[i].slot_of_it = of;
    slots[i].is = all[of].is;
    slots[i].loops = all[of].loops;
    slots[i].flops_per_pair = all[of].flops_per_pair;
  }
  return slots;
}

}  // namespace detail

inline constexpr auto attention_slots = detail::attention_slots<detail::attention_slot_count>();
inline constexpr auto attention_adjoint_slots =
    detail::attention_slots<detail::adjoint_slot_count>();

}  // namespace weft
