#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/entry.hpp"
#include "kernels/nest.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/bundle-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What is combined: the elements of an input, or the products of two inputs' elements. `stride` has
// a distance in each operand.
template <class T>
struct elements {
  static constexpr int inputs = 1;
  const T* x;

  explicit elements(const call& c) : x(static_cast<const T*>(c.operands[1].data)) {}
  void move(const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) { x += stride[1] * times; }
  template <class M>
  HWY_INLINE auto load(M memory, std::size_t i) const {
    return memory.load(x + i);
  }
  T first() const { return *x; }
};
struct products {
  static constexpr int inputs = 2;
  const float* x;
  const float* y;

  explicit products(const call& c)
      : x(static_cast<const float*>(c.operands[1].data)),
        y(static_cast<const float*>(c.operands[2].data)) {}
  void move(const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) {
    x += stride[1] * times;
    y += stride[2] * times;
  }
  template <class M>
  HWY_INLINE auto load(M memory, std::size_t i) const {
    return hn::Mul(memory.load(x + i), memory.load(y + i));
  }
  float first() const { return *x * *y; }
};
template <class Terms>
Terms moved(Terms terms, const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) {
  terms.move(stride, times);
  return terms;
}

// What a reduction is: of vectors, of what rows give, and of a row. Rows' sums add up in a wider
// type: float loses less, and the sum of int32 wraps only at the end.
struct sum_of_floats {
  using type = float;
  using total = double;
  using vectors = plus;
  static constexpr float identity = 0;
  static double combine(double a, double b) { return a + b; }
  template <class Terms>
  HWY_INLINE static double row(std::size_t n, Terms terms) {
    return sum_at(
        n, each<float>([=](auto memory, std::size_t i) HWY_ATTR { return terms.load(memory, i); }));
  }
};
struct sum_of_integers {
  using type = std::int32_t;
  using total = std::int64_t;
  using vectors = plus;
  static constexpr std::int32_t identity = 0;
  static std::int64_t combine(std::int64_t a, std::int64_t b) { return a + b; }
  HWY_INLINE static std::int64_t row(std::size_t n, elements<std::int32_t> terms) {
    const hn::ScalableTag<std::int32_t> d;
    return hn::GetLane(lanes_combined(d, accumulate(plus(), 0, n, itself(), terms.x), plus()));
  }
};
template <class T>
struct max_of {
  using type = T;
  using total = T;
  using vectors = larger;
  static constexpr T identity = std::numeric_limits<T>::has_infinity
                                    ? -std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::lowest();
  static T combine(T a, T b) { return a > b || a != a ? a : b; }
  HWY_INLINE static T row(std::size_t n, elements<T> terms) { return max(n, terms.x); }
};

// Combines `rows` rows, `stride` apart and of n vectors, into one. `last` is the last vector's
// memory. One row or more.
template <class R, int n, class Terms, class Last, class T = typename R::type>
HWY_INLINE void combine_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                             Last last, T* combined) {
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  const auto load = [&](int j) HWY_ATTR {
    const std::size_t i = static_cast<std::size_t>(j) * lanes;
    return j + 1 < n ? terms.load(whole<T>(), i) : terms.load(last, i);
  };
  auto all = bundle<D, n>::of(load);
  for (std::ptrdiff_t r = 1; r < rows; ++r) {
    terms.move(stride);
    all.map_indexed([&](auto v, int j) HWY_ATTR { return typename R::vectors()(v, load(j)); });
  }
  all.map_indexed([=](auto v, int j) HWY_ATTR {
    hn::Store(v, D(), combined + static_cast<std::size_t>(j) * lanes);
    return v;
  });
}

// The same of rows of `width` elements, which are up to 4 vectors.
template <class R, class Terms, class T = typename R::type>
void combine_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms, std::size_t width,
                  T* combined) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if (width == 4 * lanes) return combine_rows<R, 4>(rows, stride, terms, whole<T>(), combined);
  if (width > 3 * lanes)
    return combine_rows<R, 4>(rows, stride, terms, first<T>{width - 3 * lanes}, combined);
  if (width > 2 * lanes)
    return combine_rows<R, 3>(rows, stride, terms, first<T>{width - 2 * lanes}, combined);
  if (width > lanes)
    return combine_rows<R, 2>(rows, stride, terms, first<T>{width - lanes}, combined);
  combine_rows<R, 1>(rows, stride, terms, first<T>{width}, combined);
}

// The distances of neighbours along the nest's innermost loop.
struct innermost {
  std::ptrdiff_t stride[max_operands];
  explicit innermost(const nest& n) {
    for (int o = 0; o < max_operands; ++o) stride[o] = n.stride[o][n.last()];
  }
  bool contiguous(int inputs) const {
    return std::all_of(stride + 1, stride + 1 + inputs, [](auto s) { return s == 1; });
  }
};

// Up to 4 vectors of columns, `width` elements: what their rows give, a block of them at a time.
template <class R, class Terms, class T = typename R::type>
void reduce_strip(const nest& over, const innermost& row, const Terms& terms, std::size_t width,
                  T* combined) {
  constexpr std::ptrdiff_t block = 128;
  constexpr std::size_t widest = 4 * hn::MaxLanes(hn::ScalableTag<T>());
  const std::ptrdiff_t rows = over.extent[over.last()];
  if (over.loops == 1 && rows <= block)
    return combine_rows<R>(rows, row.stride, terms, width, combined);
  typename R::total totals[widest];
  std::fill_n(totals, widest, R::identity);
  walk(over, over.last(), [&](const std::ptrdiff_t* from) {
    for (std::ptrdiff_t r = 0; r < rows; r += block) {
      combine_rows<R>(std::min(block, rows - r), row.stride,
                      moved(moved(terms, from), row.stride, r), width, combined);
      // Also what is beyond the width: so many are whole vectors.
      for (std::size_t i = 0; i < widest; ++i) totals[i] = R::combine(totals[i], combined[i]);
    }
  });
  for (std::size_t i = 0; i < widest; ++i) combined[i] = static_cast<T>(totals[i]);
}

// A kept loop is contiguous in the inputs: strips of columns.
template <class R, class Terms, class T = typename R::type>
void reduce_columns(const nest& kept, const nest& over, const share& part, T* result,
                    const Terms& terms) {
  const hn::ScalableTag<T> d;
  const auto strip = static_cast<std::ptrdiff_t>(4 * hn::Lanes(d));
  alignas(64) T combined[4 * hn::MaxLanes(d)]{};
  const innermost column(kept), row(over);
  walk_pieces(kept, part, strip,
              [&](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
                for (std::ptrdiff_t c = begin; c < end; c += strip) {
                  const std::ptrdiff_t width = std::min(strip, end - c);
                  reduce_strip<R>(over, row, moved(moved(terms, at), column.stride, c),
                                  static_cast<std::size_t>(width), combined);
                  for (std::ptrdiff_t i = 0; i < width; ++i)
                    result[at[0] + (c + i) * column.stride[0]] = combined[i];
                }
              });
}

// What `length` elements along a loop give: by vectors, where the loop is contiguous.
template <class R, class Terms>
HWY_NOINLINE typename R::total reduce_row(std::ptrdiff_t length, const innermost& loop,
                                          bool contiguous, Terms row) {
  if (contiguous) return R::row(static_cast<std::size_t>(length), row);
  typename R::total total = R::identity;
  for (std::ptrdiff_t i = 0; i < length; ++i)
    total = R::combine(total, moved(row, loop.stride, i).first());
  return total;
}

// Rows that are contiguous and `stride` apart: each has one of the results.
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_contiguous(std::ptrdiff_t rows, std::size_t length,
                                    const std::ptrdiff_t* stride, Terms row, T* result) {
  for (std::ptrdiff_t r = 0;; row.move(stride)) {
    result[r * stride[0]] = static_cast<T>(R::row(length, row));
    if (++r == rows) return;
  }
}

// Row by row.
template <class R, class Terms, class T = typename R::type>
void reduce_rows(const nest& kept, const nest& over, const share& part, T* result,
                 const Terms& terms) {
  const std::ptrdiff_t length = over.extent[over.last()];
  const innermost loop(over), next(kept);
  const bool contiguous = loop.contiguous(Terms::inputs);
  if (contiguous && over.loops == 1)
    return walk_pieces(
        kept, part, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
          reduce_contiguous<R>(end - begin, static_cast<std::size_t>(length), next.stride,
                               moved(moved(terms, at), next.stride, begin),
                               result + (at[0] + begin * next.stride[0]));
        });
  walk(kept, kept.loops, items_of(kept.points(), part), [&](const std::ptrdiff_t* at) {
    typename R::total total = R::identity;
    walk(over, over.last(), [&](const std::ptrdiff_t* from) {
      total =
          R::combine(total, reduce_row<R>(length, loop, contiguous, moved(moved(terms, at), from)));
    });
    result[at[0]] = static_cast<T>(total);
  });
}

template <class R, class Terms>
void reduce_with(const call& c) {
  auto* result = static_cast<typename R::type*>(c.operands[0].data);
  const Terms terms(c);
  const nest kept = canonical(c, 1 + Terms::inputs, ~c.over, 1);
  const nest over = canonical(c, 1 + Terms::inputs, c.over, 1);
  if (kept.empty) return;
  if (over.empty) {
    walk(kept, kept.loops, items_of(kept.points(), c.part),
         [&](const std::ptrdiff_t* at) { result[at[0]] = R::identity; });
    return;
  }
  const bool rows = innermost(over).contiguous(Terms::inputs) && over.extent[over.last()] > 1;
  if (!rows && innermost(kept).contiguous(Terms::inputs)) {
    reduce_columns<R>(kept, over, c.part, result, terms);
  } else {
    reduce_rows<R>(kept, over, c.part, result, terms);
  }
}

void reduce(const call& c) noexcept {
  const bool floats = c.operands[0].type == element::float32;
  using integer = std::int32_t;
  if (c.kind == op::max)
    return floats ? reduce_with<max_of<float>, elements<float>>(c)
                  : reduce_with<max_of<integer>, elements<integer>>(c);
  if (!floats) return reduce_with<sum_of_integers, elements<integer>>(c);
  if (c.operands[2].data) return reduce_with<sum_of_floats, products>(c);
  reduce_with<sum_of_floats, elements<float>>(c);
}

}  // namespace

kernel reduce_of_target() {
  return &reduce;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(reduce_of_target);

kernel reduce_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(reduce_of_target)();
}

}  // namespace weft::kernels
#endif
