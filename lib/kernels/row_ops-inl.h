// The kernels of rowwise operations, one row_op for each. A rowwise operation without one does not
// compile.
#if defined(WEFT_KERNELS_ROW_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ROW_OPS_INL_H_
#undef WEFT_KERNELS_ROW_OPS_INL_H_
#else
#define WEFT_KERNELS_ROW_OPS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "kernels/column-inl.h"
#include "kernels/export-inl.h"
#include "kernels/normalize_rows-inl.h"
#include "kernels/row_driver.hpp"
#include "kernels/softmax_rows-inl.h"
#include "weft/graph/op_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

struct row_functions {
  row_function rows;
  column_function columns;
};
// In the part of what is frequent.
row_functions frequent_rows(op kind);
void rowwise_with(const call& c, row_functions f);

namespace {

// In double, so that the errors of a long row do not add up.
template <bool reversed, std::size_t rows>
HWY_INLINE void cumulative_sum_of(const row_arguments& a, std::size_t first_row) {
  const float* from[rows];
  float* to[rows];
  double total[rows]{};
  for (std::size_t r = 0; r < rows; ++r) {
    from[r] = a.row(first_row + r).floats(0);
    to[r] = a.row(first_row + r).to;
  }
  for (std::size_t i = 0; i < a.length; ++i) {
    const std::size_t at = reversed ? a.length - 1 - i : i;
    for (std::size_t r = 0; r < rows; ++r) {
      total[r] += from[r][at];
      to[r][at] = static_cast<float>(total[r]);
    }
  }
}
template <bool reversed>
void cumulative_sum(const row_arguments& a) {
  if (a.rows == max_rows) return cumulative_sum_of<reversed, max_rows>(a, 0);
  for (std::size_t r = 0; r < a.rows; ++r) cumulative_sum_of<reversed, 1>(a, r);
}
template <bool reversed>
void cumulative_sum_columns(const column_arguments& arguments) {
  column_arguments a = arguments;  // a copy, which no store can alias
  if (reversed)
    for (int o = 0; o < 2; ++o) {
      a.at[o] += static_cast<std::ptrdiff_t>(a.length - 1) * a.step[o];
      a.step[o] = -a.step[o];
    }
  for_columns(a, [&](auto memory, const row_pointers& first, auto count) HWY_ATTR {
    auto total = vec_array<D, count>::of([](int) HWY_ATTR { return hn::Zero(D()); });
    for_elements(a, first, [&](const row_pointers& at) HWY_ATTR {
      total.map_indexed([&](V sum, int j) HWY_ATTR {
        sum = hn::Add(sum, memory.load(at.floats(0) + offset_of(j)));
        memory.store(sum, at.to + offset_of(j));
        return sum;
      });
    });
  });
}

// The kernel of a rowwise operation: for contiguous rows, and, if there is one, for interleaved
// rows. Those of a new one stand here, or in a header like softmax_rows-inl.h if they are long.
template <row_function Rows, column_function Columns = nullptr>
struct row_kernel {
  static constexpr row_function rows = Rows;
  static constexpr column_function columns = Columns;
};
template <op>
struct row_op;
template <>
struct row_op<op::softmax> : row_kernel<&softmax, &softmax_columns> {};
template <>
struct row_op<op::log_softmax> : row_kernel<&log_softmax> {};
template <>
struct row_op<op::normalize> : row_kernel<&normalize> {};
template <>
struct row_op<op::rms_normalize> : row_kernel<&normalize> {};
template <>
struct row_op<op::cumulative_sum>
    : row_kernel<&cumulative_sum<false>, &cumulative_sum_columns<false>> {};
template <>
struct row_op<op::reverse_cumulative_sum>
    : row_kernel<&cumulative_sum<true>, &cumulative_sum_columns<true>> {};
template <>
struct row_op<op::softmax_adjoint> : row_kernel<&softmax_adjoint, &softmax_adjoint_columns> {};
template <>
struct row_op<op::log_softmax_adjoint> : row_kernel<&log_softmax_adjoint> {};
template <>
struct row_op<op::normalize_adjoint> : row_kernel<&normalize_adjoint> {};
template <>
struct row_op<op::rms_normalize_adjoint> : row_kernel<&normalize_adjoint> {};

constexpr auto rows_of_operations = table_of_operations([]<op K>() -> row_functions {
  if constexpr (is_rowwise(K) && has_flag(K, op_flag::rare) == WEFT_RARE &&
                requires { row_op<K>::rows; })
    return {row_op<K>::rows, row_op<K>::columns};
  else
    return {};
});

constexpr bool every_rowwise_operation_has_a_row_op() {
  constexpr auto has_one = table_of_operations([]<op K>() {
    return !is_rowwise(K) || requires {
      row_op<K>::rows;
    };
  });
  return std::ranges::find(has_one.of, false) == std::end(has_one.of);
}
#if HWY_ONCE  // said once, not for each target
static_assert(every_rowwise_operation_has_a_row_op(),
              "kernels: a rowwise operation has no row_op in lib/kernels/row_ops-inl.h");
#endif

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
