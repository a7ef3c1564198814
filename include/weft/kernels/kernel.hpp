// The names of kernels.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// The kernels that take a kernels::call: KERNEL(name) for each. Contracts: kernels/kernels.hpp. A
// macro, as the table of kernels has a member, and lib an entry point, for each name.
#define WEFT_KERNELS(KERNEL) \
  KERNEL(elementwise)        \
  KERNEL(reduce)             \
  KERNEL(rowwise)            \
  KERNEL(dot)                \
  KERNEL(gather)             \
  KERNEL(scatter_add)        \
  KERNEL(top_k)              \
  KERNEL(update_rows)        \
  KERNEL(rotate)             \
  KERNEL(rotate_adjoint)     \
  KERNEL(positions)          \
  KERNEL(zero)               \
  KERNEL(attention)          \
  KERNEL(attention_adjoint)

#define WEFT_KERNEL(name) name,
enum class kernel : std::uint8_t {
  WEFT_KERNELS(WEFT_KERNEL) length  // computed by the engine
};
#undef WEFT_KERNEL

}  // namespace weft
#include "weft/header_end.hpp"
