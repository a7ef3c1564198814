// What operands and results of an operation are for. An entry of the operation table lists its
// slots, and passes, lowering, engine and texts walk them: see graph/operands.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <string_view>

#include "weft/graph/op.hpp"

namespace weft {

// What an operand, or a result, is for; an operation has each role once at most. A macro, as each
// has its name as a string, which texts print.
//
// x, y and z are the operands of elementwise operations, in their order; x is the operand of
// others, too. g is an adjoint's: the gradient for the result. Beside left and right, a contraction
// has addends; table and indices are a gather's, buffer, rows, start and count those of a write;
// parts, any number of them, a concatenation's; initial, carry and value a scan's.
// attention_slots.hpp says what those of attention are, attributes.hpp what they are.
#define WEFT_ROLES(ROLE)  \
  ROLE(result)            \
  ROLE(x)                 \
  ROLE(y)                 \
  ROLE(z)                 \
  ROLE(g)                 \
  ROLE(factor)            \
  ROLE(mask)              \
  ROLE(gain)              \
  ROLE(bias)              \
  ROLE(addend)            \
  ROLE(second_addend)     \
  ROLE(left)              \
  ROLE(right)             \
  ROLE(table)             \
  ROLE(indices)           \
  ROLE(buffer)            \
  ROLE(rows)              \
  ROLE(start)             \
  ROLE(count)             \
  ROLE(cosine)            \
  ROLE(sine)              \
  ROLE(parts)             \
  ROLE(initial)           \
  ROLE(carry)             \
  ROLE(value)             \
  ROLE(query)             \
  ROLE(key)               \
  ROLE(offset)            \
  ROLE(begins)            \
  ROLE(lengths)           \
  ROLE(relative)          \
  ROLE(sink)              \
  ROLE(element_ids)       \
  ROLE(statistics)        \
  ROLE(query_gradient)    \
  ROLE(key_gradient)      \
  ROLE(value_gradient)    \
  ROLE(bias_gradient)     \
  ROLE(relative_gradient) \
  ROLE(sink_gradient)     \
  ROLE(partial_sums)

#define WEFT_ROLE(name) name,
enum class role : std::uint8_t { WEFT_ROLES(WEFT_ROLE) };
#undef WEFT_ROLE

inline constexpr int role_count = static_cast<int>(role::partial_sums) + 1;

// "query" for role::query.
constexpr std::string_view name_of(role r) {
#define WEFT_ROLE(name) #name,
  constexpr std::string_view names[]{WEFT_ROLES(WEFT_ROLE)};
#undef WEFT_ROLE
  return names[static_cast<int>(r)];
}

// The loops of a kernel in which an operand has strides, by what they are for; each is a bit.
namespace over {
inline constexpr unsigned batch = 1;
inline constexpr unsigned query = 2;
inline constexpr unsigned key = 4;
inline constexpr unsigned depth = 8;
inline constexpr unsigned value = 16;
inline constexpr unsigned distance = 32;  // of a relative bias; its strides stand in the key loop
}  // namespace over

enum class presence : std::uint8_t {
  required,
  optional,
  repeated  // the last operand: once and more often
};

// How an instruction accesses an operand; the first two are of operands of the node.
enum class access : std::uint8_t {
  reads,
  strides,   // element ids: they are computed, and have no memory
  writes,    // the node's value
  own,       // a further result, in the node's own buffer
  of_result  // a further result of the node that role::result reads, of which this is the adjoint
};

// One operand or result of an operation; the node's operands are in the order of its slots.
struct slot {
  role what{};
  presence is = presence::required;
  access by = access::reads;
  // Attention: its loops, the elements that it has to have, and whether they may be bfloat16.
  unsigned loops = 0;
  dtype type = dtype::float32;
  bool narrow = false;
  // Of a gradient: the role that it is the gradient for, whose axes it has, and its slot.
  role gradient_of = role::result;
  int slot_of_it = 0;
  // Attention: floating-point operations for each pair of a query and a key.
  int flops_per_pair = 0;
};

constexpr bool is_operand(const slot& s) {
  return s.by <= access::strides;
}
constexpr bool is_gradient(const slot& s) {
  return s.gradient_of != role::result;
}

inline constexpr int max_slots = 32;  // of one operation: bits of node::present

}  // namespace weft
#include "weft/header_end.hpp"
