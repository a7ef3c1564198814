#include "weft/kernels/kernels.hpp"

namespace weft::kernels {

table dispatch() noexcept {
  table t{};
#define WEFT_KERNEL(name) t.name = name##_kernel();
  WEFT_KERNELS(WEFT_KERNEL)
#undef WEFT_KERNEL
  t.pack_dot = pack_dot_kernel();
  t.layout = layout_of_packed();
  t.sgd = sgd_kernel();
  t.adamw = adamw_kernel();
  t.sum_of_squares = sum_of_squares_kernel();
  return t;
}

}  // namespace weft::kernels
