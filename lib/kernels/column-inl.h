// Passes over interleaved rows, whose elements with the same index are contiguous.
#if defined(WEFT_KERNELS_COLUMN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_COLUMN_INL_H_
#undef WEFT_KERNELS_COLUMN_INL_H_
#else
#define WEFT_KERNELS_COLUMN_INL_H_
#endif

#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/row-inl.h"
#include "kernels/row_driver.hpp"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V value(float x) {
  return hn::Set(D(), x);
}
HWY_INLINE V value(double x) {
  return value(static_cast<float>(x));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

// Calls f(memory, first, count) for `count` vectors, a constant, of interleaved rows, with pointers
// to their first elements. Four vectors if there are as many: elements with a large stride soon
// evict each other from the caches, and with them the neighbours in their lines.
template <int n>
using vectors = std::integral_constant<int, n>;
template <class F>
HWY_INLINE void for_columns(const column_arguments& a, F f) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t row = 0;
  for (; row + accumulators * lanes <= a.width; row += accumulators * lanes)
    f(full_vector<float>(), a.from(row), vectors<accumulators>());
  for (; row + lanes <= a.width; row += lanes) f(full_vector<float>(), a.from(row), vectors<1>());
  if (row < a.width) f(partial_vector<float>{a.width - row}, a.from(row), vectors<1>());
}
HWY_INLINE std::size_t offset_of(int vector) {
  return static_cast<std::size_t>(vector) * hn::Lanes(D());
}
HWY_INLINE void to_next_elements(const column_arguments& a, row_pointers& at) {
  at.to += a.step[0] / bytes(dtype::float32);
  for (int i = 0; i < max_row_inputs; ++i)
    at.from[i] = static_cast<const std::byte*>(at.from[i]) + a.step[1 + i];
}
// Calls f(at) with pointers to each of the rows' elements in turn.
template <class F>
HWY_INLINE void for_elements(const column_arguments& a, row_pointers at, F f) {
  for (std::size_t left = a.length;;) {
    f(at);
    if (--left == 0) return;
    to_next_elements(a, at);
  }
}
// Reduces the rows' elements in n vectors: with(v, at, i) combines v with the elements of the rows
// from the i-th on. Even and odd elements have separate accumulators, which halves the dependency
// chain; the order is the same for any n.
template <int n, class Combine, class With>
HWY_INLINE vec_array<D, n> combine_elements(const column_arguments& a, row_pointers at,
                                            Combine combine, With with) {
  using some = vec_array<D, n>;
  some even = some::of([](int) HWY_ATTR { return value(Combine::template identity<float>); });
  some odd = even;
  const auto add = [&](some& s) HWY_ATTR {
    s.map_indexed([&](V v, int j) HWY_ATTR { return with(v, at, offset_of(j)); });
  };
  std::size_t left = a.length;
  for (; left > 2; left -= 2) {
    add(even);
    to_next_elements(a, at);
    add(odd);
    to_next_elements(a, at);
  }
  add(even);
  if (left == 2) {
    to_next_elements(a, at);
    add(odd);
  }
  even.zip(odd, combine);
  return even;
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
