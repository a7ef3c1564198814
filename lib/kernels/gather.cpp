#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gather.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <cstddef>
#include <cstdint>

#include "kernels/export-inl.h"
#include "kernels/gather_scatter.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

void positions(const call& c) noexcept {
  const loop_nest n = coalesce(c, 1);
  if (n.empty()) return;
  using T = std::int32_t;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  auto* const to = static_cast<T*>(c.operands[0].data);
  const std::ptrdiff_t stride = n.stride[0][0];
  auto [i, end] = range_of(n.extent[0], c.part);
  if (stride == 1) {
    auto v = hn::Iota(d, static_cast<T>(i));
    for (; i + lanes <= end; i += lanes) {
      hn::StoreU(v, d, to + i);
      v = hn::Add(v, hn::Set(d, static_cast<T>(lanes)));
    }
  }
  for (; i < end; ++i) to[i * stride] = static_cast<T>(i);
}

void add_rows(scattered_rows a) {
  const auto row_count = static_cast<std::size_t>(a.rows.end - a.rows.begin);
  for (; a.count > 0; --a.count) {
    const std::ptrdiff_t at = *a.index;
    if (HWY_LIKELY(static_cast<std::size_t>(at - a.rows.begin) < row_count)) {
      float* const to = a.to + at * a.row;
      map(a.n, plus(), to, to, a.from);
    }
    a.to += a.to_step;
    a.from += a.from_step;
    a.index += a.index_step;
  }
}

void add_row(std::size_t n, const float* from, float* to) {
  map(n, plus(), to, to, from);
}

void scatter_add(const call& c) noexcept {
  run_scatter_add(c, {&add_rows, &add_row});
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(kernel_function, positions)
WEFT_EXPORT(kernel_function, scatter_add)

#if HWY_ONCE
namespace weft::kernels {

// The others only move bytes, for which the C library's functions are as fast as the machine.
kernel_function gather_kernel() noexcept {
  return [](const call& c) noexcept { c.operands[1].is_packed() ? gather_packed(c) : gather(c); };
}
kernel_function update_rows_kernel() noexcept {
  return &write;
}
kernel_function zero_kernel() noexcept {
  return &zero;
}

}  // namespace weft::kernels
#endif
