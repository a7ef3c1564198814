#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/kernel_table.hpp"
#include "kernels/loop_nest.hpp"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/lanes-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Loads one element as a vector of one lane.
template <class T>
struct one_lane {
  using D = hn::CappedTag<T, 1>;
  HWY_INLINE hn::Vec<D> load(const T* p) const { return hn::LoadU(D(), p); }
};

// The terms of a reduction: the elements of an input, or the products of two inputs' elements.
// `stride` has a stride for each operand.
template <class T>
struct terms_of {
  static constexpr int inputs = 1;
  const T* x;

  explicit terms_of(const call& c) : x(static_cast<const T*>(c.operands[1].data)) {}
  void move(const std::ptrdiff_t* stride, std::ptrdiff_t times) { x += stride[1] * times; }
  HWY_INLINE void advance(const std::ptrdiff_t* stride) { x = opaque(x + stride[1]); }
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
  const float* x;
  const float* y;

  explicit product_terms(const call& c)
      : x(static_cast<const float*>(c.operands[1].data)),
        y(static_cast<const float*>(c.operands[2].data)) {}
  // opaque() keeps g++ from advancing both in one vector and extracting them from it each time.
  void move(const std::ptrdiff_t* stride, std::ptrdiff_t times) {
    x = opaque(x + stride[1] * times);
    y = opaque(y + stride[2] * times);
  }
  HWY_INLINE void advance(const std::ptrdiff_t* stride) {
    x = opaque(x + stride[1]);
    y = opaque(y + stride[2]);
  }
  template <class M>
  HWY_INLINE auto load(M memory, std::size_t i) const {
    return hn::Mul(memory.load(x + i), memory.load(y + i));
  }
  // Explicit: g++ contracts a product and a sum to an FMA, clang does not.
  template <class M, class V>
  HWY_INLINE V add(M memory, std::size_t i, V sum) const {
    return hn::MulAdd(memory.load(x + i), memory.load(y + i), sum);
  }
};
template <class Terms>
Terms offset_terms(Terms terms, const std::ptrdiff_t* stride, std::ptrdiff_t times = 1) {
  terms.move(stride, times);
  return terms;
}

// Combines all lanes of some vectors.
template <class D, int n, class Combine>
HWY_INLINE hn::TFromD<D> reduce_array(const vec_array<D, n>& some, Combine combine) {
  return reduce_to_scalar(D(), some.combine(combine), combine);
}

// A reduction: how it combines vectors and the results of rows, and how it reduces a row. Rows'
// sums accumulate in a wider type: float loses less, and the sum of int32 wraps only at the end. A
// short row is a few vectors, of which the last has elements in its first `last` lanes, and 0 in
// the others.
struct sum_of_floats {
  using type = float;
  using total = double;
  using vectors = plus;
  static double combine(double a, double b) { return a + b; }
  template <class V, class Terms, class M>
  HWY_INLINE static V add(V sum, const Terms& terms, M memory, std::size_t i) {
    return terms.add(memory, i, sum);
  }
  template <class Row>
  HWY_INLINE static float short_row(const Row& row, std::size_t /*last*/) {
    return reduce_array(row, plus());
  }
  HWY_INLINE static double row(std::size_t n, const terms_of<float>& terms) {
    return row_sums<1>(n, [=](auto memory, std::size_t i, auto& sums)
                              HWY_ATTR { sums.at[0] = terms.add(memory, i, sums.at[0]); })[0];
  }
  HWY_INLINE static double row(std::size_t n, const product_terms& terms) {
    return sum_of_products(n, terms.x, terms.y);
  }
};
struct sum_of_integers {
  using type = std::int32_t;
  using total = std::int64_t;
  using vectors = plus;
  static std::int64_t combine(std::int64_t a, std::int64_t b) { return a + b; }
  template <class V, class Terms, class M>
  HWY_INLINE static V add(V sum, const Terms& terms, M memory, std::size_t i) {
    return terms.add(memory, i, sum);
  }
  template <class Row>
  HWY_INLINE static std::int32_t short_row(const Row& row, std::size_t /*last*/) {
    return reduce_array(row, plus());
  }
  HWY_INLINE static std::int64_t row(std::size_t n, terms_of<std::int32_t> terms) {
    return accumulate<accumulator<hn::ScalableTag<std::int32_t>, plus>>(n, terms.x);
  }
};
template <class T>
struct max_of {
  using type = T;
  using total = T;
  using vectors = max_nan;
  static T combine(T a, T b) { return a > b || a != a ? a : b; }
  template <class V, class Terms, class M>
  HWY_INLINE static V add(V largest, const Terms& terms, M memory, std::size_t i) {
    return max_nan()(largest, terms.load(memory, i));
  }
  template <class D, int n>
  HWY_INLINE static T short_row(const vec_array<D, n>& row, std::size_t last) {
    vec_array<D, n> numbers = row;
    numbers.at[n - 1] = hn::IfThenElse(first_n(D(), last), row.at[n - 1], hn::Set(D(), lowest<T>));
    if constexpr (hwy::IsFloat<T>()) {
      const auto sum = row.combine(plus());
      if (HWY_LIKELY(hn::AllTrue(D(), hn::Eq(sum, sum))))
        return reduce_array(numbers, max_no_nan());
    }
    return reduce_array(numbers, max_nan());
  }
  HWY_INLINE static T row(std::size_t n, terms_of<T> terms) { return max(n, terms.x); }
};
template <class R>
inline constexpr auto identity_of = R::vectors::template identity<typename R::type>;

// Accumulates a row of n vectors. `last` is the memory policy of the last vector.
template <class R, int n, class Terms, class Last, class D = hn::ScalableTag<typename R::type>>
HWY_INLINE void add_row(Terms terms, Last last, vec_array<D, n>& some) {
  some.map_indexed([=](auto v, int j) HWY_ATTR {
    const std::size_t i = static_cast<std::size_t>(j) * hn::Lanes(D());
    return j + 1 < n ? R::add(v, terms, full_vector<typename R::type>(), i)
                     : R::add(v, terms, last, i);
  });
}

// Reduces `rows` >= 1 such rows, with stride `stride`, to one.
template <class R, int n, class Terms, class Last, class T = typename R::type>
HWY_INLINE void accumulate_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                Last last, T* to) {
  using D = hn::ScalableTag<T>;
  using row = vec_array<D, n>;
  constexpr typename R::vectors combine;
  // Several accumulators hide the latency of a dependency chain: the fewer vectors in each, the
  // more of them.
  constexpr bool few = n <= accumulators / 2;
  row a = row::of([](int) HWY_ATTR { return hn::Set(D(), identity_of<R>); }), b = a, c = a, d = a;
  add_row<R>(terms, last, a);
  std::ptrdiff_t left = rows - 1;
  for (; left >= 4; left -= 4) {
    terms.advance(stride);
    add_row<R>(terms, last, b);
    terms.advance(stride);
    add_row<R>(terms, last, few ? c : a);
    terms.advance(stride);
    add_row<R>(terms, last, few ? d : b);
    terms.advance(stride);
    add_row<R>(terms, last, a);
  }
  for (; left > 0; --left) {
    terms.advance(stride);
    add_row<R>(terms, last, b);
  }
  if constexpr (few) {
    c.zip(d, combine);
    a.zip(c, combine);
  }
  a.zip(b, combine);
  a.map_indexed([=](auto v, int j) HWY_ATTR {
    T* const part = to + static_cast<std::size_t>(j) * hn::Lanes(D());
    if (j + 1 < n)
      hn::StoreU(v, D(), part);
    else
      last.store(v, part);
    return v;
  });
}

// The same for rows of `width` elements: some strips of 4 vectors, or less than one. Separate
// functions with arguments by value, as loops over a nest keep their offsets in memory.
constexpr std::ptrdiff_t unit_strides[]{0, 1, 1};
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void accumulate_strips(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                    std::ptrdiff_t width, T* to) {
  const auto strip = static_cast<std::ptrdiff_t>(4 * hn::Lanes(hn::ScalableTag<T>()));
  const std::ptrdiff_t next[]{0, stride[1], stride[2]};
  do {
    accumulate_rows<R, 4>(rows, next, terms, full_vector<T>(), to);
    terms.move(unit_strides, strip);
    to += strip;
    width -= strip;
  } while (width > 0);
}
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void accumulate_narrow(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                    std::size_t width, T* to) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::ptrdiff_t next[]{0, stride[1], stride[2]};
  if (width > 3 * lanes)
    return accumulate_rows<R, 4>(rows, next, terms, partial_vector<T>{width - 3 * lanes}, to);
  if (width > 2 * lanes)
    return accumulate_rows<R, 3>(rows, next, terms, partial_vector<T>{width - 2 * lanes}, to);
  if (width > lanes)
    return accumulate_rows<R, 2>(rows, next, terms, partial_vector<T>{width - lanes}, to);
  accumulate_rows<R, 1>(rows, next, terms, partial_vector<T>{width}, to);
}
template <class R, class Terms, class T = typename R::type>
HWY_INLINE void accumulate_rows(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms terms,
                                std::ptrdiff_t width, T* to) {
  const auto strip = static_cast<std::ptrdiff_t>(4 * hn::Lanes(hn::ScalableTag<T>()));
  const std::ptrdiff_t strips = width & -strip, tail = width - strips;
  if (strips > 0) accumulate_strips<R>(rows, stride, terms, strips, to);
  if (tail > 0)
    accumulate_narrow<R>(rows, stride, offset_terms(terms, unit_strides, strips),
                         static_cast<std::size_t>(tail), to + strips);
}

// The operands of a call: the result and up to two inputs.
constexpr int operands = 3;

// The operands' strides along the nest's innermost loop.
struct innermost {
  std::ptrdiff_t stride[operands];
  explicit innermost(const loop_nest& n) {
    for (int o = 0; o < operands; ++o) stride[o] = opaque_scalar(n.stride[o][n.last()]);
  }
  bool contiguous(int inputs) const {
    bool all = true;
    for (int o = 1; o <= inputs; ++o) all = all && stride[o] == 1;
    return all;
  }
};

// Rows that are accumulated in the element type at a time: few enough that a result loses little
// precision.
constexpr std::ptrdiff_t block = 128;

// Reduces `width` columns, a block of rows at a time. `next` is the stride of the results.
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_column_blocks(const loop_nest& over, const innermost& row, Terms terms,
                                       std::ptrdiff_t width, T* to, std::ptrdiff_t next) {
  constexpr std::ptrdiff_t strip = 4 * hn::MaxLanes(hn::ScalableTag<T>());
  const std::ptrdiff_t rows = over.extent[over.last()];
  T of_block[strip]{};
  typename R::total totals[strip];
  for (;; width -= strip) {
    const std::ptrdiff_t some = std::min(strip, width);
    std::fill_n(totals, strip, identity_of<R>);
    for_each<operands>(over, over.last(), [&](const std::ptrdiff_t* from) {
      for (std::ptrdiff_t r = 0; r < rows; r += block) {
        accumulate_rows<R>(std::min(block, rows - r), row.stride,
                           offset_terms(offset_terms(terms, from), row.stride, r), some, of_block);
        // Also beyond the width: a constant number of full vectors.
        for (std::ptrdiff_t i = 0; i < strip; ++i) totals[i] = R::combine(totals[i], of_block[i]);
      }
    });
    for (std::ptrdiff_t i = 0; i < some; ++i) to[i * next] = static_cast<T>(totals[i]);
    if (width <= strip) return;
    terms.move(unit_strides, strip);
    to += strip * next;
  }
}

// A kept loop is contiguous in the inputs: reduces strips of columns.
template <class R, class Terms, class T = typename R::type>
void reduce_columns(const loop_nest& kept, const loop_nest& over, const partition& part, T* result,
                    const Terms& terms) {
  constexpr std::ptrdiff_t strip = 4 * hn::MaxLanes(hn::ScalableTag<T>());
  const innermost row(over);
  const std::ptrdiff_t next = kept.stride[0][kept.last()], rows = over.extent[over.last()];
  const bool at_once = next == 1 && over.loops == 1 && rows <= block;
  // Captured by value: by reference, g++ would store each address and reload it.
  for_each_chunk<operands>(
      kept, part, strip,
      [=, &over, &row](const std::ptrdiff_t* at, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const Terms from = offset_terms(offset_terms(terms, at), unit_strides, begin);
        T* const to = result + (at[0] + begin * next);
        if (at_once)
          accumulate_rows<R>(rows, row.stride, from, end - begin, to);
        else
          reduce_column_blocks<R>(over, row, from, end - begin, to, next);
      });
}

// Reduces a row, whose vectors have tag D, by f(std::type_identity<Accumulator>), where Accumulator
// is the accumulator.
template <class R, class D, class F>
HWY_NOINLINE typename R::total with_nan(const F& f) {  // not inlined: see max_with_nan
  return f(std::type_identity<accumulator<D, typename R::vectors>>());
}
template <class R, class D, class F>
HWY_INLINE typename R::total with_accumulator(const F& f) {
  if constexpr (std::is_same_v<R, max_of<float>>) {
    const float value = f(std::type_identity<max_and_nan_check<D>>());
    return HWY_LIKELY(value == value) ? value : with_nan<R, D>(f);
  } else {
    return f(std::type_identity<accumulator<D, typename R::vectors>>());
  }
}

// Reduces `length` strided elements, one by one.
template <class R, class Terms, class T = typename R::type>
HWY_INLINE typename R::total strided_row(std::ptrdiff_t length, const std::ptrdiff_t* stride,
                                         Terms row) {
  constexpr std::ptrdiff_t block = 512;
  using D = typename one_lane<T>::D;
  const auto load = [=](std::ptrdiff_t i)
                        HWY_ATTR { return offset_terms(row, stride, i).load(one_lane<T>(), 0); };
  return with_accumulator<R, D>([=](auto by) HWY_ATTR {
    typename R::total total = identity_of<R>;
    for (std::ptrdiff_t i = 0; i < length;) {
      const std::ptrdiff_t end = std::min(i + block, length);
      auto some = decltype(by)::type::start();
      for (const std::ptrdiff_t groups = end & -accumulators; i < groups; i += accumulators)
        some.add(vec_array<D, accumulators>::of([=](int j) HWY_ATTR { return load(i + j); }));
      for (; i < end; ++i) some.add(load(i));
      total = R::combine(total, some.combined());
    }
    return total;
  });
}

// Strided elements whose stride divides the lanes: every full vector has elements in the same
// lanes, and takes as long as one element would. The lanes in between never reach the result.
template <class T>
struct lane_strided {
  using D = hn::ScalableTag<T>;
  hn::Mask<D> lane_mask;  // lanes with elements
  std::ptrdiff_t end;     // of a row

  static bool fits(std::ptrdiff_t element_stride) {
    constexpr std::ptrdiff_t lanes = hn::MaxLanes(D());
    return element_stride > 1 && element_stride <= lanes && lanes % element_stride == 0;
  }
  HWY_INLINE lane_strided(std::ptrdiff_t length, std::ptrdiff_t element_stride)
      : end((length - 1) * element_stride + 1) {
    const hn::RebindToSigned<D> d;
    const auto within = hn::And(hn::Iota(d, 0), hn::Set(d, static_cast<int>(element_stride - 1)));
    lane_mask = hn::RebindMask(D(), hn::Eq(within, hn::Zero(d)));
  }
};
// Reduces such a row from x on. Not a lambda, here and for rows, as g++ would not inline those of
// long functions.
template <class R, class T = typename R::type>
struct lane_strided_row {
  const lane_strided<T>& layout;
  const T* x;

  template <class Accumulator>
  HWY_INLINE typename R::total operator()(std::type_identity<Accumulator>) const {
    constexpr std::ptrdiff_t block = 2048;
    typename R::total total = identity_of<R>;
    for (std::ptrdiff_t start = 0; start < layout.end; start += block) {
      const auto load = vectors_from<T>([from = x + start](auto memory, std::size_t i)
                                            HWY_ATTR { return memory.load(from + i); });
      const auto n = static_cast<std::size_t>(std::min(block, layout.end - start));
      const auto some = accumulate_row<Accumulator>(n, load);
      total = R::combine(total, some.combined(layout.lane_mask));
    }
    return total;
  }
};
template <class R, class T = typename R::type>
struct lane_strided_rows {
  const lane_strided<T>& layout;

  HWY_INLINE typename R::total operator()(const terms_of<T>& row) const {
    return with_accumulator<R, hn::ScalableTag<T>>(lane_strided_row<R>{layout, row.x});
  }
};

// Reduces a row, by vectors where its strides `along` allow it.
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE typename R::total reduce_row(std::ptrdiff_t length, const innermost& along,
                                          Terms row) {
  if (along.contiguous(Terms::inputs)) return R::row(static_cast<std::size_t>(length), row);
  if constexpr (Terms::inputs == 1)
    if (lane_strided<T>::fits(along.stride[1]))
      return lane_strided_rows<R>{lane_strided<T>(length, along.stride[1])}(row);
  return strided_row<R>(length, along.stride, row);
}

// result[r] = f(row r) for rows with constant strides. The strides are copied first: reloads for
// each row would come after the store of a result, which waits for its row.
template <class Terms, class T, class F>
HWY_INLINE void reduce_each(std::ptrdiff_t rows, const std::ptrdiff_t* stride, Terms row, T* result,
                            F f) {
  const std::ptrdiff_t next[]{stride[0], stride[1], stride[2]};
  for (;;) {
    *result = static_cast<T>(f(row));
    if (--rows == 0) return;
    result = opaque(result + next[0]);
    row.advance(next);
  }
}
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_contiguous(std::ptrdiff_t rows, std::size_t length,
                                    const std::ptrdiff_t* stride, Terms row, T* result) {
  reduce_each(rows, stride, row, result,
              [=](const Terms& at) HWY_ATTR { return R::row(length, at); });
}
template <class R, class T = typename R::type>
HWY_NOINLINE void reduce_lane_strided(std::ptrdiff_t rows, std::ptrdiff_t length,
                                      std::ptrdiff_t element_stride, const std::ptrdiff_t* stride,
                                      terms_of<T> row, T* result) {
  const lane_strided<T> layout(length, element_stride);
  reduce_each(rows, stride, row, result, lane_strided_rows<R>{layout});
}
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_strided(std::ptrdiff_t rows, std::ptrdiff_t length,
                                 const std::ptrdiff_t* along, const std::ptrdiff_t* stride,
                                 Terms row, T* result) {
  if constexpr (Terms::inputs == 1)
    if (lane_strided<T>::fits(along[1]))
      return reduce_lane_strided<R>(rows, length, along[1], stride, row, result);
  reduce_each(rows, stride, row, result,
              [=](const Terms& at) HWY_ATTR { return strided_row<R>(length, along, at); });
}

// Contiguous rows of n vectors, the last of which has `last` elements. n is constant, so that a
// single jump leads from one row to the next: the jumps of loops and their remainders took longer
// than the additions of a short row, with each compiler in its own way.
template <class R, int n, class Terms, class T = typename R::type>
HWY_INLINE void reduce_vectors(std::ptrdiff_t rows, std::size_t last, const std::ptrdiff_t* stride,
                               Terms row, T* result) {
  using D = hn::ScalableTag<T>;
  reduce_each(rows, stride, row, result, [=](const Terms& at) HWY_ATTR {
    const auto vectors = vec_array<D, n>::of([=](int j) HWY_ATTR {
      const std::size_t i = static_cast<std::size_t>(j) * hn::Lanes(D());
      return j + 1 < n ? at.load(full_vector<T>(), i) : at.load(partial_vector<T>{last}, i);
    });
    return R::short_row(vectors, last);
  });
}
template <class R, class Terms, class T = typename R::type>
HWY_NOINLINE void reduce_short(std::ptrdiff_t rows, std::size_t length,
                               const std::ptrdiff_t* stride, Terms row, T* result) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if (length > 3 * lanes)
    return reduce_vectors<R, 4>(rows, length - 3 * lanes, stride, row, result);
  if (length > 2 * lanes)
    return reduce_vectors<R, 3>(rows, length - 2 * lanes, stride, row, result);
  if (length > lanes) return reduce_vectors<R, 2>(rows, length - lanes, stride, row, result);
  reduce_vectors<R, 1>(rows, length, stride, row, result);
}

// Reduces row by row.
template <class R, class Terms, class T = typename R::type>
void reduce_rows(const loop_nest& kept, const loop_nest& over, const partition& part, T* result,
                 const Terms& terms) {
  const std::ptrdiff_t length = over.extent[over.last()];
  const innermost along(over);
  const bool contiguous = along.contiguous(Terms::inputs);
  const item_range mine = range_of(kept.points(), part);
  if (over.loops == 1)
    return for_each_run<operands>(
        kept, kept.loops, mine,
        [&](const std::ptrdiff_t* at, const std::ptrdiff_t* step, std::ptrdiff_t rows) {
          const Terms first = offset_terms(terms, at);
          const auto n = static_cast<std::size_t>(length);
          if (contiguous && masks_memory<T>() && n <= 4 * hn::Lanes(hn::ScalableTag<T>()))
            reduce_short<R>(rows, n, step, first, result + at[0]);
          else if (contiguous)
            reduce_contiguous<R>(rows, n, step, first, result + at[0]);
          else
            reduce_strided<R>(rows, length, along.stride, step, first, result + at[0]);
        });
  for_each<operands>(kept, kept.loops, mine, [&](const std::ptrdiff_t* at) {
    typename R::total total = identity_of<R>;
    for_each<operands>(over, over.last(), [&](const std::ptrdiff_t* from) {
      total = R::combine(total,
                         reduce_row<R>(length, along, offset_terms(offset_terms(terms, at), from)));
    });
    result[at[0]] = static_cast<T>(total);
  });
}

template <class R, class Terms>
void reduce_with(const call& c) {
  auto* result = static_cast<typename R::type*>(c.operands[0].data);
  const Terms terms(c);
  const loop_nest kept = coalesce(c, 1 + Terms::inputs, ~c.over, 1);
  const loop_nest over = coalesce(c, 1 + Terms::inputs, c.over, 1);
  if (kept.empty) return;
  if (over.empty) {
    for_each<operands>(kept, kept.loops, range_of(kept.points(), c.part),
                       [&](const std::ptrdiff_t* at) { result[at[0]] = identity_of<R>; });
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
  const bool floats = c.operands[0].type == dtype::float32;
  using integer = std::int32_t;
  if (c.kind == op::max)
    return floats ? reduce_with<max_of<float>, terms_of<float>>(c)
                  : reduce_with<max_of<integer>, terms_of<integer>>(c);
  if (!floats) return reduce_with<sum_of_integers, terms_of<integer>>(c);
  if (c.operands[2].data) return reduce_with<sum_of_floats, product_terms>(c);
  reduce_with<sum_of_floats, terms_of<float>>(c);
}

}  // namespace

kernel_function reduce_of_target() {
  return &reduce;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(reduce_of_target);

kernel_function reduce_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(reduce_of_target)();
}

}  // namespace weft::kernels
#endif
