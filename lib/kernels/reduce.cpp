#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/entry.hpp"
#include "kernels/hwy-inl.h"
#include "kernels/nest.hpp"
#include "kernels/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What a reduction is: of vectors, of what rows give, and of a row. Rows' sums add up in a wider
// type: float loses less, and the sum of int32 wraps only at the end.
struct sum_of_floats {
  using type = float;
  using total = double;
  using vectors = plus;
  static constexpr float identity = 0;
  static double combine(double a, double b) { return a + b; }
  HWY_INLINE static double row(std::size_t n, const float* x) { return sum(n, itself(), x); }
};
struct sum_of_integers {
  using type = std::int32_t;
  using total = std::int64_t;
  using vectors = plus;
  static constexpr std::int32_t identity = 0;
  static std::int64_t combine(std::int64_t a, std::int64_t b) { return a + b; }
  HWY_INLINE static std::int64_t row(std::size_t n, const std::int32_t* x) {
    const hn::ScalableTag<std::int32_t> d;
    return hn::GetLane(hn::SumOfLanes(d, accumulate(plus(), 0, n, itself(), x)));
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
  HWY_INLINE static T row(std::size_t n, const T* x) { return max(n, x); }
};

// Combines `rows` rows, `stride` apart and of up to 4 vectors, into one. One row or more.
template <class R, class T = typename R::type>
void combine_rows(std::ptrdiff_t rows, std::ptrdiff_t stride, const T* from, std::size_t width,
                  T* combined) {
  const hn::ScalableTag<T> d;
  const typename R::vectors combine;
  const std::size_t lanes = hn::Lanes(d);
  const auto row = [=](std::ptrdiff_t r) { return from + r * stride; };
  if (width == 4 * lanes) {
    auto a0 = hn::LoadU(d, row(0));
    auto a1 = hn::LoadU(d, row(0) + lanes);
    auto a2 = hn::LoadU(d, row(0) + 2 * lanes);
    auto a3 = hn::LoadU(d, row(0) + 3 * lanes);
    for (std::ptrdiff_t r = 1; r < rows; ++r) {
      a0 = combine(a0, hn::LoadU(d, row(r)));
      a1 = combine(a1, hn::LoadU(d, row(r) + lanes));
      a2 = combine(a2, hn::LoadU(d, row(r) + 2 * lanes));
      a3 = combine(a3, hn::LoadU(d, row(r) + 3 * lanes));
    }
    hn::Store(a0, d, combined);
    hn::Store(a1, d, combined + lanes);
    hn::Store(a2, d, combined + 2 * lanes);
    hn::Store(a3, d, combined + 3 * lanes);
    return;
  }
  for (std::size_t i = 0; i < width; i += lanes) {
    const std::size_t n = std::min(lanes, width - i);
    auto a = load_n(d, row(0) + i, n);
    for (std::ptrdiff_t r = 1; r < rows; ++r) a = combine(a, load_n(d, row(r) + i, n));
    hn::Store(a, d, combined + i);
  }
}

// A kept loop is contiguous in the input: strips of columns, a block of rows at a time.
template <class R, class T = typename R::type>
void reduce_columns(const nest& kept, const nest& over, T* result, const T* input) {
  constexpr std::ptrdiff_t block = 128;
  const hn::ScalableTag<T> d;
  const auto strip = static_cast<std::ptrdiff_t>(4 * hn::Lanes(d));
  alignas(64) T combined[4 * hn::MaxLanes(d)];
  typename R::total totals[4 * hn::MaxLanes(d)];
  const std::ptrdiff_t columns = kept.extent[kept.last()];
  const std::ptrdiff_t result_stride = kept.stride[0][kept.last()];
  const std::ptrdiff_t rows = over.extent[over.last()];
  const std::ptrdiff_t row_stride = over.stride[1][over.last()];
  walk(kept, kept.last(), [&](const std::ptrdiff_t* at) {
    for (std::ptrdiff_t column = 0; column < columns; column += strip) {
      const std::ptrdiff_t width = std::min(strip, columns - column);
      std::fill_n(totals, width, R::identity);
      walk(over, over.last(), [&](const std::ptrdiff_t* from) {
        for (std::ptrdiff_t r = 0; r < rows; r += block) {
          combine_rows<R>(std::min(block, rows - r), row_stride,
                          input + at[1] + from[1] + column + r * row_stride,
                          static_cast<std::size_t>(width), combined);
          for (std::ptrdiff_t i = 0; i < width; ++i) totals[i] = R::combine(totals[i], combined[i]);
        }
      });
      for (std::ptrdiff_t i = 0; i < width; ++i)
        result[at[0] + (column + i) * result_stride] = static_cast<T>(totals[i]);
    }
  });
}

// Element by element, or, where the reduced loop is contiguous, row by row.
template <class R, class T = typename R::type>
void reduce_rows(const nest& kept, const nest& over, T* result, const T* input) {
  const std::ptrdiff_t length = over.extent[over.last()];
  const std::ptrdiff_t stride = over.stride[1][over.last()];
  walk(kept, kept.loops, [&](const std::ptrdiff_t* at) {
    typename R::total total = R::identity;
    walk(over, over.last(), [&](const std::ptrdiff_t* from) HWY_ATTR {
      const T* row = input + at[1] + from[1];
      if (stride == 1) {
        total = R::combine(total, R::row(static_cast<std::size_t>(length), row));
      } else {
        for (std::ptrdiff_t i = 0; i < length; ++i) total = R::combine(total, row[i * stride]);
      }
    });
    result[at[0]] = static_cast<T>(total);
  });
}

template <class R>
void reduce_with(const call& c) {
  using T = typename R::type;
  T* result = static_cast<T*>(c.operands[0].data);
  const T* input = static_cast<const T*>(c.operands[1].data);
  const nest kept = canonical(c, 2, ~c.over, 1);
  const nest over = canonical(c, 2, c.over, 1);
  if (kept.empty) return;
  if (over.empty) {
    walk(kept, kept.loops, [&](const std::ptrdiff_t* at) { result[at[0]] = R::identity; });
    return;
  }
  const bool rows = over.stride[1][over.last()] == 1 && over.extent[over.last()] > 1;
  if (!rows && kept.stride[1][kept.last()] == 1) {
    reduce_columns<R>(kept, over, result, input);
  } else {
    reduce_rows<R>(kept, over, result, input);
  }
}

void reduce(const call& c) noexcept {
  const bool floats = c.operands[0].type == element::float32;
  if (c.kind == op::max)
    return floats ? reduce_with<max_of<float>>(c) : reduce_with<max_of<std::int32_t>>(c);
  floats ? reduce_with<sum_of_floats>(c) : reduce_with<sum_of_integers>(c);
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
