#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/export-inl.h"
#include "kernels/loop_nest.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// In the part of what is frequent.
void sum_floats(const call& c, const loop_nest& kept, const loop_nest& over);

namespace {

// The terms of a reduction: the elements of an input, or the products of two inputs' elements.
// `stride` has a stride for each operand.
template <class T>
struct terms_of {
  static constexpr int inputs = 1;
  const T* x;

  explicit terms_of(const T* from) : x(from) {}
  explicit terms_of(const call& c) : x(static_cast<const T*>(c.operands[1].data)) {}
  terms_of at(const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) const {
    return terms_of(x + stride[1] * times);
  }
  T term(const std::ptrdiff_t* stride, std::ptrdiff_t i) const { return x[stride[1] * i]; }
  template <class M>
  HWY_INLINE auto load(M memory, std::size_t i) const {
    return memory.load(x + i);
  }
  template <class M, class V>
  HWY_INLINE V add(M memory, std::size_t i, V sum) const {
    return hn::Add(sum, load(memory, i));
  }
};
struct product_terms {
  static constexpr int inputs = 2;
  const float *x, *y;

  product_terms(const float* of_x, const float* of_y) : x(of_x), y(of_y) {}
  explicit product_terms(const call& c)
      : x(static_cast<const float*>(c.operands[1].data)),
        y(static_cast<const float*>(c.operands[2].data)) {}
  product_terms at(const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) const {
    return {x + stride[1] * times, y + stride[2] * times};
  }
  float term(const std::ptrdiff_t* stride, std::ptrdiff_t i) const {
    return x[stride[1] * i] * y[stride[2] * i];
  }
  template <class M>
  HWY_INLINE auto load(M memory, std::size_t i) const {
    return hn::Mul(memory.load(x + i), memory.load(y + i));
  }
  template <class M, class V>
  HWY_INLINE V add(M memory, std::size_t i, V sum) const {
    return hn::MulAdd(memory.load(x + i), memory.load(y + i), sum);
  }
};

// A reduction: how it combines vectors and the results of blocks, and how it reduces a contiguous
// row. Rows' sums accumulate in a wider type: float loses less, and the sum of int32 wraps only at
// the end.
template <class Type, class Total>
struct sum_of {
  using type = Type;
  using total = Total;
  using vectors = plus;
  static total combine(total a, total b) { return a + b; }
  template <class V, class Terms, class M>
  HWY_INLINE static V add(V sum, const Terms& terms, M memory, std::size_t i) {
    return terms.add(memory, i, sum);
  }
  HWY_INLINE static total row(std::size_t n, const terms_of<float>& terms) {
    return row_sums<1>(n, [=](auto memory, std::size_t i, auto& sums)
                              HWY_ATTR { sums.at[0] = terms.add(memory, i, sums.at[0]); })[0];
  }
  HWY_INLINE static total row(std::size_t n, const product_terms& terms) {
    return sum_of_products(n, terms.x, terms.y);
  }
  HWY_INLINE static total row(std::size_t n, const terms_of<std::int32_t>& terms) {
    return accumulate<accumulator<hn::ScalableTag<std::int32_t>, plus>>(n, terms.x);
  }
};
template <class T>
struct max_of {
  using type = T;
  using total = T;
  using vectors = max_nan;
  static T combine(T a, T b) { return a > b || a != a ? a : b; }
  template <class V, class M>
  HWY_INLINE static V add(V largest, const terms_of<T>& terms, M memory, std::size_t i) {
    return max_nan()(largest, terms.load(memory, i));
  }
  HWY_INLINE static T row(std::size_t n, const terms_of<T>& terms) { return max(n, terms.x); }
};
template <class R>
inline constexpr auto identity_of = R::vectors::template identity<typename R::type>;

// The operands of a call: the result and up to two inputs.
constexpr int operands = 3;

// The operands' strides along the innermost loop of a nest.
struct innermost {
  std::ptrdiff_t stride[operands];
  explicit innermost(const loop_nest& n) {
    for (int o = 0; o < operands; ++o) stride[o] = n.inner_stride(o);
  }
  bool contiguous(int inputs) const {
    bool all = true;
    for (int o = 1; o <= inputs; ++o) all = all && stride[o] == 1;
    return all;
  }
};

// Reduces `length` elements, which are staged in a buffer if they are not contiguous.
template <class R, class Terms, class T = typename R::type>
HWY_INLINE typename R::total reduce_row(std::ptrdiff_t length, const innermost& along,
                                        Terms terms) {
  if (along.contiguous(Terms::inputs)) return R::row(static_cast<std::size_t>(length), terms);
  constexpr std::ptrdiff_t capacity = 512;
  alignas(64) T staged[capacity];
  typename R::total total = identity_of<R>;
  for (std::ptrdiff_t i = 0, count; i < length; i += count) {
    count = std::min(capacity, length - i);
    const Terms from = terms.at(along.stride, i);
    for_each_element(count, [&](std::ptrdiff_t j) { staged[j] = from.term(along.stride, j); });
    total = R::combine(total, R::row(static_cast<std::size_t>(count), terms_of<T>(staged)));
  }
  return total;
}

// Calls f(row) for rows with constant strides, and stores what it returns.
template <class Terms, class T, class F>
HWY_INLINE void for_each_row(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms row, T* to,
                             F f) {
  const std::ptrdiff_t next[]{stride[0], stride[1], stride[2]};
  for (; rows > 0; --rows) {
    *to = static_cast<T>(f(row));
    to += next[0];
    row = row.at(next);
  }
}
// Vector `at` of each of up to four blocks of sum_lanes elements, combined in the order of
// row_sums.
template <int at, class D, int n, class V, class F>
HWY_INLINE V combine_blocks(const vec_array<D, n>& v, V identity, F f) {
  constexpr int second = at + sum_vectors, third = second + sum_vectors,
                fourth = third + sum_vectors;
  if constexpr (at >= n)
    return identity;
  else if constexpr (second >= n)
    return v.at[at];
  else if constexpr (third >= n)
    return f(v.at[at], v.at[second]);
  else if constexpr (fourth >= n)
    return f(f(v.at[at], v.at[second]), v.at[third]);
  else
    return f(f(v.at[at], v.at[second]), f(v.at[third], v.at[fourth]));
}
// Contiguous rows of n vectors, the last of which has `last` elements: for rows as short as these,
// loops and their remainders take longer than the additions.
template <class R, int n, class Terms, class T = typename R::type>
HWY_INLINE void reduce_vectors(std::ptrdiff_t rows, std::size_t last, const std::ptrdiff_t* stride,
                               Terms first, T* to) {
  using D = hn::ScalableTag<T>;
  constexpr typename R::vectors combine;
  const auto identity = hn::Set(D(), identity_of<R>);
  for_each_row(rows, stride, first, to, [=](const Terms& row) HWY_ATTR {
    auto some = vec_array<D, n>::of([=](int j) HWY_ATTR {
      const std::size_t i = static_cast<std::size_t>(j) * hn::Lanes(D());
      return j + 1 < n ? row.load(full_vector<T>(), i) : row.load(partial_vector<T>{last}, i);
    });
    some.at[n - 1] = hn::IfThenElse(first_n(D(), last), some.at[n - 1], identity);
    const auto block = vec_array<D, sum_vectors>::of_constants(
        [&](auto j) HWY_ATTR { return combine_blocks<j>(some, identity, combine); });
    return reduce_to_scalar(D(), block, combine) + T{0};  // 0 for -0, as of longer rows
  });
}
template <class R, int n = 1, class Terms, class T = typename R::type>
HWY_INLINE void reduce_short_rows(std::ptrdiff_t rows, std::size_t length,
                                  const std::ptrdiff_t* stride, Terms first, T* to) {
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  if constexpr (n < 4 * sum_vectors) {
    if (length > n * lanes) return reduce_short_rows<R, n + 1>(rows, length, stride, first, to);
  }
  reduce_vectors<R, n>(rows, length - (n - 1) * lanes, stride, first, to);
}
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_contiguous(std::ptrdiff_t rows, std::size_t length,
                                    const std::ptrdiff_t* stride, Terms first, T* to) {
  if constexpr (masks_memory<T>()) {
    if (length <= 4 * sum_lanes) return reduce_short_rows<R>(rows, length, stride, first, to);
  }
  for_each_row(rows, stride, first, to,
               [=](const Terms& row) HWY_ATTR { return R::row(length, row); });
}

// Reduces row by row.
template <class R, class Terms, class T = typename R::type>
void reduce_rows(const loop_nest& kept, const loop_nest& over, const partition& part, T* result,
                 const Terms& terms) {
  const std::ptrdiff_t length = over.extent[over.last()];
  const innermost along(over);
  const item_range rows = range_of(kept.points(), part);
  if (over.loops == 1 && along.contiguous(Terms::inputs))
    return for_each_run<operands>(
        kept, kept.loops, rows,
        [&](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t count) {
          reduce_contiguous<R>(count, static_cast<std::size_t>(length), step, terms.at(at),
                               result + at[0]);
        });
  for_each<operands>(kept, kept.loops, rows, [&](const std::ptrdiff_t* at) {
    const Terms first = terms.at(at);
    typename R::total total = identity_of<R>;
    for_each<operands>(over, over.last(), [&](const std::ptrdiff_t* from) {
      total = R::combine(total, reduce_row<R>(length, along, first.at(from)));
    });
    result[at[0]] = static_cast<T>(total);
  });
}

// Reduces `rows` >= 1 rows of n vectors to one, in two accumulators for each vector. `last` is the
// memory policy of the last vector.
template <class R, int n, class Terms, class Last, class T = typename R::type>
HWY_INLINE void accumulate_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                Last last, T* to) {
  using D = hn::ScalableTag<T>;
  using row = vec_array<D, n>;
  const auto offset = [](int j) { return static_cast<std::size_t>(j) * hn::Lanes(D()); };
  const auto add = [&](row& some, std::ptrdiff_t r) HWY_ATTR {
    const Terms from = terms.at(stride, r);
    some.map_indexed([&](auto v, int j) HWY_ATTR {
      return j + 1 < n ? R::add(v, from, full_vector<T>(), offset(j))
                       : R::add(v, from, last, offset(j));
    });
  };
  row even = row::of([](int) HWY_ATTR { return hn::Set(D(), identity_of<R>); }), odd = even;
  std::ptrdiff_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    add(even, r);
    add(odd, r + 1);
  }
  if (r < rows) add(even, r);
  even.zip(odd, typename R::vectors());
  even.map_indexed([&](auto v, int j) HWY_ATTR {
    if (j + 1 < n)
      hn::StoreU(v, D(), to + offset(j));
    else
      last.store(v, to + offset(j));
    return v;
  });
}

// The same for rows of `width` elements.
constexpr int strip_vectors = 4;
constexpr std::ptrdiff_t unit_strides[]{0, 1, 1};
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void accumulate_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                  std::ptrdiff_t width, T* to) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(hn::ScalableTag<T>()));
  std::ptrdiff_t i = 0;
  for (; i + strip_vectors * lanes <= width; i += strip_vectors * lanes)
    accumulate_rows<R, strip_vectors>(rows, stride, terms.at(unit_strides, i), full_vector<T>(),
                                      to + i);
  for (; i < width; i += lanes)
    accumulate_rows<R, 1>(rows, stride, terms.at(unit_strides, i),
                          partial_vector<T>{static_cast<std::size_t>(std::min(lanes, width - i))},
                          to + i);
}

// Rows that are accumulated in the element type at a time: few enough that a result loses little
// precision.
constexpr std::ptrdiff_t block = 128;

// Reduces at most one strip of columns, a block of rows at a time. `next` is the stride of the
// results.
template <class R, class Terms, class T = typename R::type>
void reduce_column_blocks(const loop_nest& over, const innermost& row, Terms terms,
                          std::ptrdiff_t width, T* to, std::ptrdiff_t next) {
  constexpr std::ptrdiff_t strip = strip_vectors * hn::MaxLanes(hn::ScalableTag<T>());
  const std::ptrdiff_t rows = over.extent[over.last()];
  T of_block[strip]{};
  typename R::total totals[strip];
  std::fill_n(totals, strip, identity_of<R>);
  for_each<operands>(over, over.last(), [&](const std::ptrdiff_t* from) {
    for (std::ptrdiff_t r = 0; r < rows; r += block) {
      accumulate_rows<R>(std::min(block, rows - r), row.stride, terms.at(from).at(row.stride, r),
                         width, of_block);
      // Also beyond the width: a constant number of full vectors.
      for (std::ptrdiff_t i = 0; i < strip; ++i) totals[i] = R::combine(totals[i], of_block[i]);
    }
  });
  for (std::ptrdiff_t i = 0; i < width; ++i) to[i * next] = static_cast<T>(totals[i]);
}

// A kept loop is contiguous in the inputs: reduces strips of columns.
template <class R, class Terms, class T = typename R::type>
void reduce_columns(const loop_nest& kept, const loop_nest& over, const partition& part, T* result,
                    const Terms& terms) {
  constexpr std::ptrdiff_t strip = strip_vectors * hn::MaxLanes(hn::ScalableTag<T>());
  const innermost row(over);
  const std::ptrdiff_t next = kept.inner_stride(0), rows = over.extent[over.last()];
  const bool at_once = next == 1 && over.loops == 1 && rows <= block;
  for_each_chunk<operands>(
      kept, part, strip, [&](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Terms from = terms.at(at);
        T* const to = result + at[0];
        if (at_once)
          return accumulate_rows<R>(rows, row.stride, from.at(unit_strides, begin), end - begin,
                                    to + begin);
        for (std::ptrdiff_t i = begin; i < end; i += strip)
          reduce_column_blocks<R>(over, row, from.at(unit_strides, i), std::min(strip, end - i),
                                  to + i * next, next);
      });
}

template <class R, class Terms>
void reduce_with(const call& c, const loop_nest& kept, const loop_nest& over) {
  auto* result = static_cast<typename R::type*>(c.operands[0].data);
  const Terms terms(c);
  if (over.empty()) {
    for_each<operands>(kept, kept.loops, range_of(kept.points(), c.part),
                       [&](const std::ptrdiff_t* at) { result[at[0]] = identity_of<R>; });
    return;
  }
  const bool rows = innermost(over).contiguous(Terms::inputs) && over.extent[over.last()] > 1;
  if (!rows && innermost(kept).contiguous(Terms::inputs))
    reduce_columns<R>(kept, over, c.part, result, terms);
  else
    reduce_rows<R>(kept, over, c.part, result, terms);
}

#if WEFT_RARE
void reduce_nests(const call& c, const loop_nest& kept, const loop_nest& over) {
  const bool floats = c.operands[0].type == dtype::float32;
  using integer = std::int32_t;
  if (c.kind == op::max)
    return floats ? reduce_with<max_of<float>, terms_of<float>>(c, kept, over)
                  : reduce_with<max_of<integer>, terms_of<integer>>(c, kept, over);
  floats ? sum_floats(c, kept, over)
         : reduce_with<sum_of<integer, std::int64_t>, terms_of<integer>>(c, kept, over);
}
#else
}  // namespace

void sum_floats(const call& c, const loop_nest& kept, const loop_nest& over) {
  using sum = sum_of<float, double>;
  c.operands[2].data ? reduce_with<sum, product_terms>(c, kept, over)
                     : reduce_with<sum, terms_of<float>>(c, kept, over);
}

namespace {
constexpr auto reduce_nests = &sum_floats;
#endif

// The nests once, and not for each reduction: that is half of the code.
void WEFT_PART(reduce)(const call& c) noexcept {
  const int used = c.operands[2].data ? 3 : 2;
  const loop_nest kept = coalesce(c, used, ~c.over, 1), over = coalesce(c, used, c.over, 1);
  if (!kept.empty()) reduce_nests(c, kept, over);
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT_PART(kernel_function, WEFT_PART(reduce))
