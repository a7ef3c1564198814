// The kernels: what each promises. They are compiled in lib/ once per SIMD target.
//
// kernel        operations                     result[i...] =
// elementwise   op::copy … op::where           f(inputs[i...]); a stride of 0 broadcasts
// reduce        sum, max                       over the loops in `over` (stride 0 in the result);
// an
//                                              empty sum is 0, an empty max is -infinity
// rowwise       softmax … normalize_adjoint    each row (the loops in `over`) by itself. A softmax
// row
//                                              whose maximum is -infinity is 0 everywhere,
//                                              a log_softmax row -infinity;
//                                              operands as the list of operations says
// dot           dot                            sum of left * right over the loops that the result
// has
//                                              stride 0 in; every loop has a stride other than 0 in
//                                              at least two of (result, left, right), or extent 1
// gather        gather                         table[i... + axis_stride * indices[i...]]; 0 for an
// index
//                                              outside [0, axis_extent)
// scatter_add   scatter_add                    zero over the result's loops and the indexed axis,
// then
//                                              result[i... + axis_stride * indices[i...]] +=
//                                              g[i...], in the order of the loops; indices outside
//                                              are left out
// positions     positions                      int32 i along its one loop
// zero          (fills)                        zero bits over the loops
#pragma once

#include <cstddef>

#include "weft/kernels/call.hpp"
#include "weft/kernels/update.hpp"

namespace weft::kernels {

// The kernels compiled for one SIMD target.
struct table {
  void (*elementwise)(const call&) noexcept;
  void (*reduce)(const call&) noexcept;
  void (*rowwise)(const call&) noexcept;
  void (*dot)(const call&) noexcept;
  void (*gather)(const call&) noexcept;
  void (*scatter_add)(const call&) noexcept;
  void (*positions)(const call&) noexcept;
  void (*zero)(const call&) noexcept;
  void (*sgd)(const sgd_step&) noexcept;
  void (*adamw)(const adamw_step&) noexcept;
  double (*sum_of_squares)(const float* x, std::size_t n) noexcept;
};

// For the best target that this machine runs. Cheap: a few loads. To be asked for once per run.
table best() noexcept;

}  // namespace weft::kernels
