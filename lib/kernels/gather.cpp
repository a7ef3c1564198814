#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gather.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "kernels/entry.hpp"
#include "kernels/indexing.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void add_row(std::size_t n, float* to, const float* from) {
  map(n, plus(), to, to, from);
}

void scatter_add(const call& c) noexcept {
  run_scatter_add(c, &add_row);
}

}  // namespace

kernel scatter_add_of_target() {
  return &scatter_add;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(scatter_add_of_target);

// The others move bytes: the C library's functions are as fast as the machine.
kernel gather_kernel() noexcept {
  return &gather;
}
kernel scatter_add_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(scatter_add_of_target)();
}
kernel write_kernel() noexcept {
  return &write;
}
kernel positions_kernel() noexcept {
  return &positions;
}
kernel zero_kernel() noexcept {
  return &zero;
}

}  // namespace weft::kernels
#endif
