#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>

#include "kernels/entry.hpp"
#include "kernels/nest.hpp"
#include "kernels/row-inl.h"
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

// How a row's pairs lie in memory, and how vectors of them get there and back: full vectors, or the
// first n lanes.
struct apart {  // all first numbers side by side, and all second ones
  template <class T>
  static bool fits(const pairs<T>& p) {
    return p.next == 1;
  }
  template <class M>
  HWY_INLINE static void load(M memory, const pairs<const float>& p, std::ptrdiff_t i, V& a, V& b) {
    a = memory.load(p.first + i);
    b = memory.load(p.first + i + p.partner);
  }
  template <class M>
  HWY_INLINE static void store(M memory, V a, V b, const pairs<float>& p, std::ptrdiff_t i) {
    memory.store(a, p.first + i);
    memory.store(b, p.first + i + p.partner);
  }
};
struct interleaved {
  template <class T>
  static bool fits(const pairs<T>& p) {
    return p.next == 2 && p.partner == 1;
  }
  HWY_INLINE static void load(whole<float>, const pairs<const float>& p, std::ptrdiff_t i, V& a,
                              V& b) {
    hn::LoadInterleaved2(D(), p.first + 2 * i, a, b);
  }
  HWY_INLINE static void store(whole<float>, V a, V b, const pairs<float>& p, std::ptrdiff_t i) {
    hn::StoreInterleaved2(a, b, D(), p.first + 2 * i);
  }
  // Of fewer, by way of two vectors.
  static constexpr std::size_t lanes = hn::MaxLanes(D());
  HWY_INLINE static void load(first<float> some, const pairs<const float>& p, std::ptrdiff_t i,
                              V& a, V& b) {
    alignas(64) float both[2 * lanes];
    const float* from = p.first + 2 * i;
    hn::Store(load_n(D(), from, std::min(2 * some.n, lanes)), D(), both);
    if (2 * some.n > lanes)
      hn::Store(load_n(D(), from + lanes, 2 * some.n - lanes), D(), both + lanes);
    else
      hn::Store(hn::Zero(D()), D(), both + lanes);
    hn::LoadInterleaved2(D(), both, a, b);
  }
  HWY_INLINE static void store(first<float> some, V a, V b, const pairs<float>& p,
                               std::ptrdiff_t i) {
    alignas(64) float both[2 * lanes];
    float* to = p.first + 2 * i;
    hn::StoreInterleaved2(a, b, D(), both);
    store_n(hn::Load(D(), both), D(), to, std::min(2 * some.n, lanes));
    if (2 * some.n > lanes)
      store_n(hn::Load(D(), both + lanes), D(), to + lanes, 2 * some.n - lanes);
  }
};
struct strided {};  // anyhow: pair by pair

// Calls f(layout) with the layout of the rows' pairs, where what is beside these is contiguous.
template <class T, class F>
void with_layout(const pairs<T>& p, const pairs<const float>& q, bool contiguous, F f) {
  if (contiguous && apart::fits(p) && apart::fits(q)) return f(apart());
  if (contiguous && interleaved::fits(p) && interleaved::fits(q)) return f(interleaved());
  f(strided());
}

// Calls f(memory, i) for each vector of a row of n pairs.
template <class F>
HWY_INLINE void for_vectors(std::ptrdiff_t n, F f) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(D()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) f(whole<float>(), i);
  if (i < n) f(first<float>{static_cast<std::size_t>(n - i)}, i);
}

// A row's angles.
struct angles {
  const float *cosine, *sine;
  std::ptrdiff_t cosine_next, sine_next;
};

template <class Layout>
HWY_INLINE void turn_row(Layout, const pairs<float>& to, const pairs<const float>& x,
                         const angles& by, std::ptrdiff_t n) {
  for_vectors(n, [&](auto memory, std::ptrdiff_t i) HWY_ATTR {
    V a, b;
    Layout::load(memory, x, i, a, b);
    a = in_register(a);
    b = in_register(b);
    const V cosine = in_register(memory.load(by.cosine + i));
    const V sine = in_register(memory.load(by.sine + i));
    Layout::store(memory, hn::NegMulAdd(b, sine, hn::Mul(a, cosine)),
                  hn::MulAdd(a, sine, hn::Mul(b, cosine)), to, i);
  });
}
inline void turn_row(strided, const pairs<float>& to, const pairs<const float>& x, const angles& by,
                     std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const float cosine = by.cosine[i * by.cosine_next], sine = by.sine[i * by.sine_next];
    const float a = x.a(i), b = x.b(i);
    to.a(i) = a * cosine - b * sine;
    to.b(i) = b * cosine + a * sine;
  }
}

// From a row of pairs and one of their gradients.
template <bool of_sine, class Layout>
HWY_INLINE void combine_row(Layout, float* to, std::ptrdiff_t, const pairs<const float>& x,
                            const pairs<const float>& g, std::ptrdiff_t n) {
  for_vectors(n, [&](auto memory, std::ptrdiff_t i) HWY_ATTR {
    V a, b, ga, gb;
    Layout::load(memory, x, i, a, b);
    Layout::load(memory, g, i, ga, gb);
    memory.store(of_sine ? hn::NegMulAdd(ga, b, hn::Mul(gb, a)) : hn::MulAdd(ga, a, hn::Mul(gb, b)),
                 to + i);
  });
}
template <bool of_sine>
void combine_row(strided, float* to, std::ptrdiff_t next, const pairs<const float>& x,
                 const pairs<const float>& g, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i)
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
  const bool contiguous = cosine.stride[row] == 1 && sine.stride[row] == 1;
  with_layout(to, x, contiguous, [&](auto layout) {
    for_rows(c, row, 4, [&](const std::ptrdiff_t* at) HWY_ATTR {
      turn_row(layout, from(to, at[0]), from(x, at[1]),
               {static_cast<const float*>(cosine.data) + at[2],
                static_cast<const float*>(sine.data) + at[3], cosine.stride[row], sine.stride[row]},
               n);
      for (std::ptrdiff_t i = 2 * n; i < c.axis_extent; ++i)
        to.first[at[0] + i * to_number] = x.first[at[1] + i * x_number];
    });
  });
}

template <bool of_sine>
void rotate_adjoint_of(const call& c) {
  const int row = row_of(c);
  const auto x = pairs_of<const float>(c, c.operands[1], row);
  const auto g = pairs_of<const float>(c, c.operands[2], row);
  auto* const to = static_cast<float*>(c.operands[0].data);
  const std::ptrdiff_t next = c.operands[0].stride[row], n = c.extent[row];
  with_layout(x, g, next == 1, [&](auto layout) {
    for_rows(c, row, 3, [&](const std::ptrdiff_t* at) HWY_ATTR {
      combine_row<of_sine>(layout, to + at[0], next, from(x, at[1]), from(g, at[2]), n);
    });
  });
}

void rotate_adjoint(const call& c) noexcept {
  c.scalar == 0 ? rotate_adjoint_of<false>(c) : rotate_adjoint_of<true>(c);
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
