#include "kernels/attention.hpp"
#include "kernels/dot.hpp"
#include "kernels/entry.hpp"

namespace weft::kernels {

table best() noexcept {
  return {.elementwise = elementwise_kernel(),
          .reduce = reduce_kernel(),
          .rowwise = rowwise_kernel(),
          .dot = dot_kernel(),
          .pack_dot = pack_dot_kernel(),
          .attention = attention_kernel(),
          .attention_adjoint = attention_adjoint_kernel(),
          .gather = gather_kernel(),
          .scatter_add = scatter_add_kernel(),
          .write = write_kernel(),
          .rotate = rotate_kernel(),
          .rotate_adjoint = rotate_adjoint_kernel(),
          .positions = positions_kernel(),
          .zero = zero_kernel(),
          .sgd = sgd_kernel(),
          .adamw = adamw_kernel(),
          .sum_of_squares = sum_of_squares_kernel()};
}

}  // namespace weft::kernels
