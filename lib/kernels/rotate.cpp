#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>

#include "kernels/entry.hpp"
#include "kernels/nest.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The pairs of a row: where the first one lies, from a pair's first number to its second, and from
// a pair to the next.
template <class T>
struct pairs {
  T* first;
  std::ptrdiff_t partner, next;

  T& a(std::ptrdiff_t i) const { return first[i * next]; }
  T& b(std::ptrdiff_t i) const { return first[i * next + partner]; }
};

// How vectors of pairs lie in memory.
struct apart {  // all first numbers side by side, and all second ones
  template <class T>
  static bool fits(const pairs<T>& p) {
    return p.next == 1;
  }
  HWY_INLINE static void load(const pairs<const float>& p, std::ptrdiff_t i, V& a, V& b) {
    a = hn::LoadU(D(), p.first + i);
    b = hn::LoadU(D(), p.first + i + p.partner);
  }
  HWY_INLINE static void store(V a, V b, const pairs<float>& p, std::ptrdiff_t i) {
    hn::StoreU(a, D(), p.first + i);
    hn::StoreU(b, D(), p.first + i + p.partner);
  }
};
struct interleaved {
  template <class T>
  static bool fits(const pairs<T>& p) {
    return p.next == 2 && p.partner == 1;
  }
  HWY_INLINE static void load(const pairs<const float>& p, std::ptrdiff_t i, V& a, V& b) {
    hn::LoadInterleaved2(D(), p.first + 2 * i, a, b);
  }
  HWY_INLINE static void store(V a, V b, const pairs<float>& p, std::ptrdiff_t i) {
    hn::StoreInterleaved2(a, b, D(), p.first + 2 * i);
  }
};

// A row's angles.
struct angles {
  const float *cosine, *sine;
  std::ptrdiff_t cosine_next, sine_next;
};

template <class Layout>
HWY_INLINE std::ptrdiff_t turn_vectors(const pairs<float>& to, const pairs<const float>& x,
                                       const angles& by, std::ptrdiff_t n) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V a, b;
    Layout::load(x, i, a, b);
    const V cosine = hn::LoadU(D(), by.cosine + i), sine = hn::LoadU(D(), by.sine + i);
    Layout::store(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)),
                  hn::MulAdd(a, sine, hn::Mul(b, cosine)), to, i);
  }
  return i;
}

void turn_row(const pairs<float>& to, const pairs<const float>& x, const angles& by,
              std::ptrdiff_t n) {
  std::ptrdiff_t i = 0;
  if (by.cosine_next == 1 && by.sine_next == 1) {
    if (apart::fits(x) && apart::fits(to))
      i = turn_vectors<apart>(to, x, by, n);
    else if (interleaved::fits(x) && interleaved::fits(to))
      i = turn_vectors<interleaved>(to, x, by, n);
  }
  for (; i < n; ++i) {
    const float cosine = by.cosine[i * by.cosine_next], sine = by.sine[i * by.sine_next];
    const float a = x.a(i), b = x.b(i);
    to.a(i) = a * cosine - b * sine;
    to.b(i) = b * cosine + a * sine;
  }
}

// From a row of pairs and one of their gradients.
template <class Layout, bool of_sine>
HWY_INLINE std::ptrdiff_t combine_vectors(float* to, const pairs<const float>& x,
                                          const pairs<const float>& g, std::ptrdiff_t n) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V a, b, ga, gb;
    Layout::load(x, i, a, b);
    Layout::load(g, i, ga, gb);
    hn::StoreU(of_sine ? hn::NegMulAdd(ga, b, hn::Mul(gb, a)) : hn::MulAdd(ga, a, hn::Mul(gb, b)),
               D(), to + i);
  }
  return i;
}

template <bool of_sine>
void combine_row(float* to, std::ptrdiff_t next, const pairs<const float>& x,
                 const pairs<const float>& g, std::ptrdiff_t n) {
  std::ptrdiff_t i = 0;
  if (next == 1) {
    if (apart::fits(x) && apart::fits(g))
      i = combine_vectors<apart, of_sine>(to, x, g, n);
    else if (interleaved::fits(x) && interleaved::fits(g))
      i = combine_vectors<interleaved, of_sine>(to, x, g, n);
  }
  for (; i < n; ++i)
    to[i * next] = of_sine ? g.b(i) * x.a(i) - g.a(i) * x.b(i) : g.a(i) * x.a(i) + g.b(i) * x.b(i);
}

// Calls f(offsets) for the rows of a part, which are along loop `row`.
template <class F>
void for_rows(const call& c, int row, int operands, F f) {
  const nest rows = canonical(c, operands, ~(1u << row));
  if (rows.empty) return;
  walk(rows, rows.loops, items_of(rows.points(), c.part), f);
}

int row_of(const call& c) {
  int row = 0;
  while (!(c.over >> row & 1u)) ++row;
  return row;
}

// An operand's pairs, whose second numbers are `axis_stride` numbers behind the first.
template <class T>
pairs<T> pairs_of(const call& c, const operand& o, int row) {
  const std::ptrdiff_t next = o.stride[row];
  const std::ptrdiff_t number = c.axis_stride == 1 ? next / 2 : next;
  return {static_cast<T*>(o.data), c.axis_stride * number, next};
}
template <class T>
pairs<T> from(pairs<T> p, std::ptrdiff_t offset) {
  p.first += offset;
  return p;
}

void rotate(const call& c) noexcept {
  const int row = row_of(c);
  const std::ptrdiff_t n = c.extent[row];
  const auto to = pairs_of<float>(c, c.operands[0], row);
  const auto x = pairs_of<const float>(c, c.operands[1], row);
  const operand &cosine = c.operands[2], &sine = c.operands[3];
  const std::ptrdiff_t to_number = to.partner / c.axis_stride, x_number = x.partner / c.axis_stride;
  for_rows(c, row, 4, [&](const std::ptrdiff_t* at) {
    turn_row(from(to, at[0]), from(x, at[1]),
             {static_cast<const float*>(cosine.data) + at[2],
              static_cast<const float*>(sine.data) + at[3], cosine.stride[row], sine.stride[row]},
             n);
    for (std::ptrdiff_t i = 2 * n; i < c.axis_extent; ++i)
      to.first[at[0] + i * to_number] = x.first[at[1] + i * x_number];
  });
}

void rotate_adjoint(const call& c) noexcept {
  const int row = row_of(c);
  const auto x = pairs_of<const float>(c, c.operands[1], row);
  const auto g = pairs_of<const float>(c, c.operands[2], row);
  auto* const to = static_cast<float*>(c.operands[0].data);
  const std::ptrdiff_t next = c.operands[0].stride[row], n = c.extent[row];
  for_rows(c, row, 3, [&](const std::ptrdiff_t* at) {
    if (c.scalar == 0)
      combine_row<false>(to + at[0], next, from(x, at[1]), from(g, at[2]), n);
    else
      combine_row<true>(to + at[0], next, from(x, at[1]), from(g, at[2]), n);
  });
}

}  // namespace

kernel rotate_of_target() {
  return &rotate;
}
kernel rotate_adjoint_of_target() {
  return &rotate_adjoint;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(rotate_of_target);
HWY_EXPORT(rotate_adjoint_of_target);

kernel rotate_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rotate_of_target)();
}
kernel rotate_adjoint_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rotate_adjoint_of_target)();
}

}  // namespace weft::kernels
#endif
