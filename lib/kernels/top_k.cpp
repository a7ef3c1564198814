// top_k: along the loop in `over`, in which r has stride 0, the indices of the axis_extent greatest
// elements of x, the greatest first: the i-th at r[i... + i * axis_stride], int32. NaN is greater
// than any number; of equal elements the first comes first. Rows with fewer elements end with -1.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/top_k.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/export-inl.h"
#include "kernels/loop_nest.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// One row of x, and its result as a binary heap of indices, whose root is the last in order.
struct selection {
  const float* x;
  std::ptrdiff_t x_stride;
  std::int32_t* heap;
  std::ptrdiff_t heap_stride;
  std::ptrdiff_t size;

  float value(std::int32_t i) const { return x[i * x_stride]; }
  std::int32_t& at(std::ptrdiff_t i) const { return heap[i * heap_stride]; }
  // Whether element i comes before element j.
  bool before(std::int32_t i, std::int32_t j) const {
    const float a = value(i), b = value(j);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && (!std::isnan(b) || i < j);
    return a > b || (a == b && i < j);
  }
  // Moves an element of the heap of n down to its place.
  void sift_down(std::ptrdiff_t parent, std::ptrdiff_t n) const {
    for (;;) {
      std::ptrdiff_t child = 2 * parent + 1;
      if (child >= n) return;
      if (child + 1 < n && before(at(child), at(child + 1))) ++child;
      if (!before(at(parent), at(child))) return;
      std::swap(at(parent), at(child));
      parent = child;
    }
  }
};

// The index of the first element from `begin` on that could come before one of value `last`: that
// is greater, or NaN; n if there is none.
std::ptrdiff_t next_candidate(const float* x, std::ptrdiff_t stride, std::ptrdiff_t begin,
                              std::ptrdiff_t n, float last) {
  const auto may_precede = [=](float v) { return !(v <= last); };
  std::ptrdiff_t i = begin;
  if (stride == 1) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
    const auto bound = hn::Set(d, last);
    for (; i + lanes <= n; i += lanes)
      if (!hn::AllTrue(d, hn::Le(hn::LoadU(d, x + i), bound))) break;
  }
  while (i < n && !may_precede(x[i * stride])) ++i;
  return i;
}

void select(selection s, std::ptrdiff_t n) {
  const std::ptrdiff_t k = std::min(s.size, n);
  for (std::ptrdiff_t i = 0; i < k; ++i) s.at(i) = static_cast<std::int32_t>(i);
  for (std::ptrdiff_t i = k; i < s.size; ++i) s.at(i) = -1;
  if (k == 0) return;
  for (std::ptrdiff_t i = k / 2; i-- > 0;) s.sift_down(i, k);
  for (std::ptrdiff_t i = k;; ++i) {
    i = next_candidate(s.x, s.x_stride, i, n, s.value(s.at(0)));
    if (i == n) break;
    const auto candidate = static_cast<std::int32_t>(i);
    if (!s.before(candidate, s.at(0))) continue;
    s.at(0) = candidate;
    s.sift_down(0, k);
  }
  for (std::ptrdiff_t end = k; end-- > 1;) {  // heapsort: the last in order goes to the end
    std::swap(s.at(0), s.at(end));
    s.sift_down(0, end);
  }
}

void top_k(const call& c) noexcept {
  const loop_nest rows = coalesce(c, 2, ~c.over), row = coalesce(c, 2, c.over, 1);
  if (rows.empty()) return;
  const std::ptrdiff_t n = row.points();
  auto* const to = static_cast<std::int32_t*>(c.operands[0].data);
  const auto* const from = static_cast<const float*>(c.operands[1].data);
  for_each<2>(rows, rows.loops, range_of(rows.points(), c.part), [&](const std::ptrdiff_t* at) {
    select({from + at[1], row.stride[1][0], to + at[0], c.axis_stride, c.axis_extent}, n);
  });
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(kernel_function, top_k)
