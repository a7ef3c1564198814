#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <cstddef>

#include "kernels/export-inl.h"
#include "kernels/loop_nest.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::ptrdiff_t lanes = hn::MaxLanes(D());

// The layout of a row's pairs: the strides from a pair's first element to its second, and from pair
// to pair.
struct pairs {
  std::ptrdiff_t partner, next;
};

// A row's pairs in memory, from one to the next row of an operand.
template <class T>
struct row_of_pairs {
  T *first, *second;  // the elements of the first pair
  std::ptrdiff_t next;

  row_of_pairs(T* row, const pairs& p) : first(row), second(row + p.partner), next(p.next) {}
  void advance(std::ptrdiff_t step) {
    first += step;
    second += step;
  }
};

// Layouts load and store a vector of pairs. In registers, pairs are in the layout's order, which
// in_order converts other vectors to and from.
struct half_split {  // all first elements are contiguous, and all second ones
  static bool fits(const pairs& p) { return p.next == 1; }
  HWY_INLINE static V in_order(V v) { return v; }
  HWY_INLINE static void load(const row_of_pairs<const float>& row, std::ptrdiff_t i, V& a, V& b) {
    a = hn::LoadU(D(), row.first + i);
    b = hn::LoadU(D(), row.second + i);
  }
  HWY_INLINE static void store(V a, V b, const row_of_pairs<float>& row, std::ptrdiff_t i) {
    hn::StoreU(a, D(), row.first + i);
    hn::StoreU(b, D(), row.second + i);
  }
};
struct interleaved {
  static bool fits(const pairs& p) { return p.next == 2 && p.partner == 1; }
  HWY_INLINE static V in_order(V v) { return HWY_NAMESPACE::in_order(v); }
  HWY_INLINE static void load(const row_of_pairs<const float>& row, std::ptrdiff_t i, V& a, V& b) {
    load_pairs_by_block(D(), row.first + 2 * i, a, b);
  }
  HWY_INLINE static void store(V a, V b, const row_of_pairs<float>& row, std::ptrdiff_t i) {
    store_pairs_by_block(a, b, D(), row.first + 2 * i);
  }
};

// Whether pairs of two operands have this layout.
template <class Layout>
bool fit(const pairs& p, const pairs& q) {
  return Layout::fits(p) && Layout::fits(q);
}
// The pairs of a row of n that are done by vectors; the rest is done pair by pair, and so is a row
// that has neither layout. `contiguous`: whether the operands that have no pairs are.
std::ptrdiff_t done_by_vectors(std::ptrdiff_t n, const pairs& p, const pairs& q, bool contiguous) {
  return contiguous && (fit<half_split>(p, q) || fit<interleaved>(p, q)) ? n & -lanes : 0;
}

// Rows with constant strides.
struct rotated_rows {
  std::ptrdiff_t n, by_vectors;  // pairs of each row
  pairs to, x;
  std::ptrdiff_t cosine_next, sine_next;
  item_range kept;  // the elements after the pairs, which are copied
  std::ptrdiff_t to_stride, x_stride;
};

// The pairs that are done by vectors, and what remains of the rows.
template <class Layout>
void rotate_vectors(const rotated_rows& r, float* to, const float* x, const float* cosine,
                    const float* sine, const std::ptrdiff_t* step, std::ptrdiff_t count) {
  const std::ptrdiff_t end = r.by_vectors, next[]{step[0], step[1], step[2], step[3]};
  row_of_pairs<float> result(to, r.to);
  row_of_pairs<const float> from(x, r.x);
  for (; count > 0; --count) {
    for (std::ptrdiff_t i = 0; i < end; i += lanes) {
      V a, b;
      Layout::load(from, i, a, b);
      const V c = Layout::in_order(hn::LoadU(D(), cosine + i));
      const V s = Layout::in_order(hn::LoadU(D(), sine + i));
      Layout::store(hn::NegMulAdd(b, s, hn::Mul(a, c)), hn::MulAdd(a, s, hn::Mul(b, c)), result, i);
    }
    result.advance(next[0]);
    from.advance(next[1]);
    cosine += next[2];
    sine += next[3];
  }
}
void rotate_rest(const rotated_rows& r, float* to, const float* x, const float* cosine,
                 const float* sine, const std::ptrdiff_t* step, std::ptrdiff_t count) {
  row_of_pairs<float> result(to, r.to);
  row_of_pairs<const float> from(x, r.x);
  for (; count > 0; --count) {
    for (std::ptrdiff_t i = r.by_vectors; i < r.n; ++i) {
      const float c = cosine[i * r.cosine_next], s = sine[i * r.sine_next];
      const float a = from.first[i * from.next], b = from.second[i * from.next];
      result.first[i * result.next] = negated_multiply_add(b, s, a * c);
      result.second[i * result.next] = multiply_add(a, s, b * c);
    }
    for (std::ptrdiff_t i = r.kept.begin; i < r.kept.end; ++i)
      result.first[i * r.to_stride] = from.first[i * r.x_stride];
    result.advance(step[0]);
    from.advance(step[1]);
    cosine += step[2];
    sine += step[3];
  }
}

// Rows of the gradient for the cosines or the sines, computed from pairs and their gradients.
struct combined_rows {
  std::ptrdiff_t n, by_vectors;  // elements of a result's row
  std::ptrdiff_t next;           // and their stride
  pairs x, g;
};

template <bool of_sine, class Layout>
void combine_vectors(const combined_rows& r, float* to, const float* x, const float* g,
                     const std::ptrdiff_t* step, std::ptrdiff_t count) {
  const std::ptrdiff_t end = r.by_vectors, next[]{step[0], step[1], step[2]};
  row_of_pairs<const float> of_x(x, r.x), of_g(g, r.g);
  for (; count > 0; --count) {
    for (std::ptrdiff_t i = 0; i < end; i += lanes) {
      V a, b, ga, gb;
      Layout::load(of_x, i, a, b);
      Layout::load(of_g, i, ga, gb);
      const V sum =
          of_sine ? hn::NegMulAdd(ga, b, hn::Mul(gb, a)) : hn::MulAdd(ga, a, hn::Mul(gb, b));
      hn::StoreU(Layout::in_order(sum), D(), to + i);
    }
    to += next[0];
    of_x.advance(next[1]);
    of_g.advance(next[2]);
  }
}
template <bool of_sine>
void combine_rest(const combined_rows& r, float* to, const float* x, const float* g,
                  const std::ptrdiff_t* step, std::ptrdiff_t count) {
  row_of_pairs<const float> of_x(x, r.x), of_g(g, r.g);
  for (; count > 0; --count) {
    for (std::ptrdiff_t i = r.by_vectors; i < r.n; ++i) {
      const float a = of_x.first[i * of_x.next], b = of_x.second[i * of_x.next];
      const float ga = of_g.first[i * of_g.next], gb = of_g.second[i * of_g.next];
      to[i * r.next] = of_sine ? negated_multiply_add(ga, b, gb * a) : multiply_add(ga, a, gb * b);
    }
    to += step[0];
    of_x.advance(step[1]);
    of_g.advance(step[2]);
  }
}

// Calls f(offsets, steps, count) for runs of a partition's rows, which are along loop `row`.
template <class F>
void for_rows(const call& c, int row, int operands, F f) {
  const loop_nest rows = coalesce(c, operands, ~(1u << row));
  if (rows.empty()) return;
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
  const pairs of_to = pairs_of(c, o[0], row), of_x = pairs_of(c, o[1], row);
  const bool contiguous = o[2].stride[row] == 1 && o[3].stride[row] == 1;
  const rotated_rows rows{n,
                          done_by_vectors(n, of_to, of_x, contiguous),
                          of_to,
                          of_x,
                          o[2].stride[row],
                          o[3].stride[row],
                          {2 * n, c.axis_extent},
                          element_stride(c, o[0], row),
                          element_stride(c, o[1], row)};
  const auto of_vectors =
      fit<interleaved>(of_to, of_x) ? &rotate_vectors<interleaved> : &rotate_vectors<half_split>;
  auto* const to = static_cast<float*>(o[0].data);
  const float *const x = floats_of(o[1]), *const cosine = floats_of(o[2]),
                     *const sine = floats_of(o[3]);
  for_rows(c, row, 4,
           [=, &rows](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t count) {
             const auto turn = [&](auto f) {
               f(rows, to + at[0], x + at[1], cosine + at[2], sine + at[3], step, count);
             };
             if (rows.by_vectors > 0) turn(of_vectors);
             if (rows.by_vectors < n || rows.kept.begin < rows.kept.end) turn(&rotate_rest);
           });
}

template <bool of_sine>
void rotate_adjoint_of(const call& c) {
  const int row = row_of(c);
  const std::ptrdiff_t n = c.extent[row];
  const operand* const o = c.operands;
  const pairs of_x = pairs_of(c, o[1], row), of_g = pairs_of(c, o[2], row);
  const std::ptrdiff_t next = o[0].stride[row];
  const combined_rows rows{n, done_by_vectors(n, of_x, of_g, next == 1), next, of_x, of_g};
  const auto of_vectors = fit<interleaved>(of_x, of_g) ? &combine_vectors<of_sine, interleaved>
                                                       : &combine_vectors<of_sine, half_split>;
  auto* const to = static_cast<float*>(o[0].data);
  const float *const x = floats_of(o[1]), *const g = floats_of(o[2]);
  for_rows(c, row, 3,
           [=, &rows](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t count) {
             const auto combine = [&](auto f) {
               f(rows, to + at[0], x + at[1], g + at[2], step, count);
             };
             if (rows.by_vectors > 0) combine(of_vectors);
             if (rows.by_vectors < n) combine(&combine_rest<of_sine>);
           });
}

void rotate_adjoint(const call& c) noexcept {
  c.scalar == 0 ? rotate_adjoint_of<false>(c) : rotate_adjoint_of<true>(c);
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(kernel_function, rotate)
WEFT_EXPORT(kernel_function, rotate_adjoint)
