// Runs rowwise operations: what one computes of a row is in row_ops-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rowwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <cstddef>

#include "kernels/export-inl.h"
#include "kernels/row_driver.hpp"
#include "kernels/row_ops-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

#if !WEFT_RARE
row_functions frequent_rows(op kind) {
  return rows_of_operations[kind];
}

void rowwise_with(const call& c, row_functions f) {
  run_rowwise(c, f.rows, f.columns,
              [](const float* from, std::ptrdiff_t row, std::size_t rows, std::size_t columns,
                 float* to, std::ptrdiff_t pitch) {
                transpose(D(), {from, row, 1, rows, columns}, 1, to, pitch);
              });
}
#endif

namespace {

void WEFT_PART(rowwise)(const call& c) noexcept {
  const bool here = has_flag(c.kind, op_flag::rare) == WEFT_RARE;
  rowwise_with(c, here ? rows_of_operations[c.kind] : frequent_rows(c.kind));
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT_PART(kernel_function, WEFT_PART(rowwise))
