#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/kernel_table.hpp"
#include "kernels/loop_nest.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::ptrdiff_t lanes = hn::MaxLanes(D());

// The layout of a row's pairs: the strides from a pair's first element to its second, and from pair
// to pair.
struct pairs {
  std::ptrdiff_t partner, next;
};

// A pointer to a row's pairs.
template <class T>
struct pairs_at {
  T* first;
  pairs_at(T* row, const pairs& /*p*/) : first(row) {}
  void advance(std::ptrdiff_t step) { first += step; }
};
// Also one to their second elements, in a register of its own that advances from row to row:
// compilers would keep the difference in one more.
template <class T>
struct elements_at {
  T *first, *second;
  elements_at(T* row, const pairs& p) : first(row), second(opaque(row + p.partner)) {}
  HWY_INLINE void advance(std::ptrdiff_t step) {
    first = opaque(first + step);
    second = opaque(second + step);
  }
};

// Layouts load and store vectors of pairs: full vectors, or the first n lanes. In registers, pairs
// are in the layout's order, which in_order converts other vectors to and from.
struct half_split {  // half-split: first elements contiguous, and second ones
  template <class T>
  using row_at = elements_at<T>;
  static bool fits(const pairs& p) { return p.next == 1; }
  HWY_INLINE static V in_order(V v) { return v; }
  template <class M>
  HWY_INLINE static void load(M memory, const elements_at<const float>& row, std::ptrdiff_t i, V& a,
                              V& b) {
    a = memory.load(row.first + i);
    b = memory.load(row.second + i);
  }
  // Stores to one cache line are consecutive: if stores to two lines alternate, twice as many of
  // them wait for the caches.
  static constexpr int vectors_at_once = std::clamp<int>(16 / lanes, 1, 4);
  template <class M, int n>
  HWY_INLINE static void store(M memory, const vec_array<D, n>& a, const vec_array<D, n>& b,
                               const elements_at<float>& row, std::ptrdiff_t i) {
    for (int j = 0; j < n; ++j) memory.store(a.at[j], row.first + i + j * lanes);
    for (int j = 0; j < n; ++j) memory.store(b.at[j], row.second + i + j * lanes);
  }
};
// Interleaved pairs. The tail of a row, after the full vectors of pairs, takes one vector of
// elements or two, the same for all rows: a constant, as g++ would read it from the stack just
// after each row's masked stores.
template <int vectors_of_tail>
struct interleaved {
  template <class T>
  using row_at = pairs_at<T>;
  static bool fits(const pairs& p) { return p.next == 2 && p.partner == 1; }
  HWY_INLINE static V in_order(V v) { return HWY_NAMESPACE::in_order(v); }
  HWY_INLINE static void load(full_vector<float>, pairs_at<const float> row, std::ptrdiff_t i, V& a,
                              V& b) {
    load_pairs_by_block(D(), row.first + 2 * i, a, b);
  }
  static constexpr int vectors_at_once = 1;  // a pair's elements are contiguous anyway
  HWY_INLINE static void store(full_vector<float>, const vec_array<D, 1>& a,
                               const vec_array<D, 1>& b, pairs_at<float> row, std::ptrdiff_t i) {
    store_pairs_by_block(a.at[0], b.at[0], D(), row.first + 2 * i);
  }
  // Fewer pairs are staged in two vectors of memory.
  static constexpr std::size_t lanes = hn::MaxLanes(D());
  HWY_INLINE static void load(partial_vector<float> part, pairs_at<const float> row,
                              std::ptrdiff_t i, V& a, V& b) {
    alignas(64) float both[2 * lanes];
    const float* from = row.first + 2 * i;
    if constexpr (vectors_of_tail == 1) {
      hn::Store(load_n(D(), from, 2 * part.n), D(), both);
      hn::Store(hn::Zero(D()), D(), both + lanes);
    } else {
      hn::Store(hn::LoadU(D(), from), D(), both);
      hn::Store(load_n(D(), from + lanes, 2 * part.n - lanes), D(), both + lanes);
    }
    load_pairs_by_block(D(), both, a, b);
  }
  HWY_INLINE static void store(partial_vector<float> part, const vec_array<D, 1>& a,
                               const vec_array<D, 1>& b, pairs_at<float> row, std::ptrdiff_t i) {
    alignas(64) float both[2 * lanes];
    float* to = row.first + 2 * i;
    store_pairs_by_block(a.at[0], b.at[0], D(), both);
    if constexpr (vectors_of_tail == 1) {
      store_n(hn::Load(D(), both), D(), to, 2 * part.n);
    } else {
      hn::StoreU(hn::Load(D(), both), D(), to);
      store_n(hn::Load(D(), both + lanes), D(), to + lanes, 2 * part.n - lanes);
    }
  }
};
struct strided {  // any strides: pair by pair
  template <class T>
  using row_at = pairs_at<T>;
};

// Calls f(memory, i, count) for vectors of a row of n elements, `count` at a time, a constant. The
// remainder is computed from n, not from where a loop ended, so that compilers see that it is the
// same for all rows.
template <int n>
using vectors = std::integral_constant<int, n>;
struct vectors_and_tail {
  template <class F>
  HWY_INLINE static void each(std::ptrdiff_t n, F f) {
    const std::ptrdiff_t full_end = n & -lanes;
    for (std::ptrdiff_t i = 0; i < full_end; i += lanes) f(full_vector<float>(), i, vectors<1>());
    if (full_end < n)
      f(partial_vector<float>{static_cast<std::size_t>(n - full_end)}, full_end, vectors<1>());
  }
};
// The same for a multiple of `vectors_at_once` full vectors, without a remainder: g++ has no
// registers for one beside a rotation's row pointers.
template <int vectors_at_once>
struct full_vectors {
  static constexpr std::ptrdiff_t step = vectors_at_once * lanes;
  static bool fit(std::ptrdiff_t n) { return n > 0 && n % step == 0; }
  template <class F>
  HWY_INLINE static void each(std::ptrdiff_t n, F f) {
    std::ptrdiff_t i = 0;
    do {
      f(full_vector<float>(), i, vectors<vectors_at_once>());
      i += step;
    } while (i < n);
  }
};

// Returns f(layout, vectors) for the layout of the rows' n pairs. `contiguous`: whether the other
// operands are.
template <class F>
auto with_layout(std::ptrdiff_t n, const pairs& p, const pairs& q, bool contiguous, F f) {
  const auto of = [n, f](auto layout, auto layout_of_tail) {
    using several = full_vectors<decltype(layout)::vectors_at_once>;
    if (several::fit(n)) return f(layout, several());
    return full_vectors<1>::fit(n) ? f(layout, full_vectors<1>())
                                   : f(layout_of_tail, vectors_and_tail());
  };
  if (contiguous && half_split::fits(p) && half_split::fits(q))
    return of(half_split(), half_split());
  using interleaved_pairs = interleaved<1>;
  if (contiguous && interleaved_pairs::fits(p) && interleaved_pairs::fits(q))
    return 2 * (n % lanes) > lanes ? of(interleaved_pairs(), interleaved<2>())
                                   : of(interleaved_pairs(), interleaved_pairs());
  return f(strided(), vectors_and_tail());
}

// Rows with constant strides. They have a function of their own, as its callers need as many
// registers.
struct rotated_rows {
  std::ptrdiff_t n;  // pairs of each row
  pairs to, x;
  std::ptrdiff_t cosine_next, sine_next;
  item_range kept;  // the elements after the pairs, which are copied
  std::ptrdiff_t to_stride, x_stride;
};

HWY_NOINLINE void copy_kept(const rotated_rows& rows, float* to, const float* x,
                            const std::ptrdiff_t* step, std::ptrdiff_t count) {
  const rotated_rows r = rows;  // a copy, which no store can alias
  for (std::ptrdiff_t row = 0; row < count; ++row) {
    if (r.to_stride == 1 && r.x_stride == 1)
      vectors_and_tail::each(
          r.kept.end - r.kept.begin, [=](auto memory, std::ptrdiff_t i, vectors<1>) HWY_ATTR {
            memory.store(memory.load(x + r.kept.begin + i), to + r.kept.begin + i);
          });
    else
      for (std::ptrdiff_t i = r.kept.begin; i < r.kept.end; ++i)
        to[i * r.to_stride] = x[i * r.x_stride];
    to += step[0];
    x += step[1];
  }
}

template <class Layout, class Vectors>
HWY_NOINLINE void rotate_pairs(const rotated_rows& rows, float* to, const float* x,
                               const float* cosine, const float* sine, const std::ptrdiff_t* step,
                               std::ptrdiff_t count) {
  const rotated_rows r = rows;  // a copy, which no store can alias
  const std::ptrdiff_t next[]{step[0], step[1], step[2], step[3]};
  typename Layout::template row_at<float> result(to, r.to);
  typename Layout::template row_at<const float> from(x, r.x);
  for (;; --count) {
    if constexpr (std::is_same_v<Layout, strided>) {
      for (std::ptrdiff_t i = 0; i < r.n; ++i) {
        const float c = cosine[i * r.cosine_next], s = sine[i * r.sine_next];
        const float a = from.first[i * r.x.next], b = from.first[i * r.x.next + r.x.partner];
        result.first[i * r.to.next] = a * c - b * s;
        result.first[i * r.to.next + r.to.partner] = b * c + a * s;
      }
    } else {
      Vectors::each(r.n, [&](auto memory, std::ptrdiff_t begin, auto count) HWY_ATTR {
        vec_array<D, count> of_first, of_second;
        for (int j = 0; j < count; ++j) {
          const std::ptrdiff_t i = begin + j * lanes;
          V a, b;
          Layout::load(memory, from, i, a, b);
          a = opaque(a);
          b = opaque(b);
          const V c = opaque(Layout::in_order(memory.load(cosine + i)));
          const V s = opaque(Layout::in_order(memory.load(sine + i)));
          of_first.at[j] = hn::NegMulAdd(b, s, hn::Mul(a, c));
          of_second.at[j] = hn::MulAdd(a, s, hn::Mul(b, c));
        }
        Layout::store(memory, of_first, of_second, result, begin);
      });
    }
    if (count == 1) return;
    result.advance(next[0]);
    from.advance(next[1]);
    cosine += next[2];
    sine += next[3];
  }
}

// Rows of the gradient for the cosines or the sines, computed from pairs and their gradients.
struct combined_rows {
  std::ptrdiff_t n, next;  // elements of a result's row, and their stride
  pairs x, g;
};

template <bool of_sine, class Layout, class Vectors>
HWY_NOINLINE void combine(const combined_rows& rows, float* to, const float* x, const float* g,
                          const std::ptrdiff_t* step, std::ptrdiff_t count) {
  const combined_rows r = rows;
  const std::ptrdiff_t next[]{step[0], step[1], step[2]};
  typename Layout::template row_at<const float> of_x(x, r.x), of_g(g, r.g);
  for (;; --count) {
    if constexpr (std::is_same_v<Layout, strided>) {
      for (std::ptrdiff_t i = 0; i < r.n; ++i) {
        const float a = of_x.first[i * r.x.next], b = of_x.first[i * r.x.next + r.x.partner];
        const float ga = of_g.first[i * r.g.next], gb = of_g.first[i * r.g.next + r.g.partner];
        to[i * r.next] = of_sine ? gb * a - ga * b : ga * a + gb * b;
      }
    } else {
      Vectors::each(r.n, [&](auto memory, std::ptrdiff_t begin, auto count) HWY_ATTR {
        for (int j = 0; j < count; ++j) {
          const std::ptrdiff_t i = begin + j * lanes;
          V a, b, ga, gb;
          Layout::load(memory, of_x, i, a, b);
          Layout::load(memory, of_g, i, ga, gb);
          const V sum =
              of_sine ? hn::NegMulAdd(ga, b, hn::Mul(gb, a)) : hn::MulAdd(ga, a, hn::Mul(gb, b));
          memory.store(Layout::in_order(sum), to + i);
        }
      });
    }
    if (count == 1) return;
    to += next[0];
    of_x.advance(next[1]);
    of_g.advance(next[2]);
  }
}

// Calls f(offsets, steps, count) for runs of a partition's rows, which are along loop `row`.
template <class F>
void for_rows(const call& c, int row, int operands, F f) {
  const loop_nest rows = coalesce(c, operands, ~(1u << row));
  if (rows.empty) return;
  for_each_run(rows, rows.loops, range_of(rows.points(), c.part), f);
}

int row_of(const call& c) {
  int row = 0;
  while (!(c.over >> row & 1u)) ++row;
  return row;
}

// The stride of the elements of an operand's rows.
std::ptrdiff_t element_stride(const call& c, const operand& o, int row) {
  return c.axis_stride == 1 ? o.stride[row] / 2 : o.stride[row];
}
// An operand's pairs, whose second elements are `axis_stride` elements after the first.
pairs pairs_of(const call& c, const operand& o, int row) {
  return {c.axis_stride * element_stride(c, o, row), o.stride[row]};
}

const float* floats_of(const operand& o) {
  return static_cast<const float*>(o.data);
}

void rotate(const call& c) noexcept {
  const int row = row_of(c);
  const std::ptrdiff_t n = c.extent[row];
  const operand* const o = c.operands;
  const rotated_rows rows{n,
                          pairs_of(c, o[0], row),
                          pairs_of(c, o[1], row),
                          o[2].stride[row],
                          o[3].stride[row],
                          {2 * n, c.axis_extent},
                          element_stride(c, o[0], row),
                          element_stride(c, o[1], row)};
  const bool contiguous = rows.cosine_next == 1 && rows.sine_next == 1;
  const auto rotate_rows = with_layout(
      n, rows.to, rows.x, contiguous,
      [](auto layout, auto vectors) { return &rotate_pairs<decltype(layout), decltype(vectors)>; });
  auto* const to = static_cast<float*>(o[0].data);
  const float *const x = floats_of(o[1]), *const cosine = floats_of(o[2]),
                     *const sine = floats_of(o[3]);
  for_rows(c, row, 4,
           [=, &rows](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t count) {
             rotate_rows(rows, to + at[0], x + at[1], cosine + at[2], sine + at[3], step, count);
             if (rows.kept.begin < rows.kept.end)
               copy_kept(rows, to + at[0], x + at[1], step, count);
           });
}

template <bool of_sine>
void rotate_adjoint_of(const call& c) {
  const int row = row_of(c);
  const operand* const o = c.operands;
  const combined_rows rows{c.extent[row], o[0].stride[row], pairs_of(c, o[1], row),
                           pairs_of(c, o[2], row)};
  const auto combine_rows =
      with_layout(rows.n, rows.x, rows.g, rows.next == 1, [](auto layout, auto vectors) {
        return &combine<of_sine, decltype(layout), decltype(vectors)>;
      });
  auto* const to = static_cast<float*>(o[0].data);
  const float *const x = floats_of(o[1]), *const g = floats_of(o[2]);
  for_rows(c, row, 3,
           [=, &rows](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t count) {
             combine_rows(rows, to + at[0], x + at[1], g + at[2], step, count);
           });
}

void rotate_adjoint(const call& c) noexcept {
  c.scalar == 0 ? rotate_adjoint_of<false>(c) : rotate_adjoint_of<true>(c);
}

}  // namespace

kernel_function rotate_of_target() {
  return &rotate;
}
kernel_function rotate_adjoint_of_target() {
  return &rotate_adjoint;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(rotate_of_target);
HWY_EXPORT(rotate_adjoint_of_target);

kernel_function rotate_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rotate_of_target)();
}
kernel_function rotate_adjoint_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rotate_adjoint_of_target)();
}

}  // namespace weft::kernels
#endif
