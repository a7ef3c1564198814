// Passes over contiguous rows: map, and sums and maxima of what a map would return.
#if defined(WEFT_KERNELS_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ROW_INL_H_
#undef WEFT_KERNELS_ROW_INL_H_
#else
#define WEFT_KERNELS_ROW_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The least of a type's values.
template <class T>
inline constexpr T lowest = std::numeric_limits<T>::has_infinity
                                ? -std::numeric_limits<T>::infinity()
                                : std::numeric_limits<T>::lowest();

// Operations that combine vectors, with their identity element.
struct plus {
  template <class T>
  static constexpr T identity = 0;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

struct max_nan {
  template <class T>
  static constexpr T identity = lowest<T>;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return math::maximum(a, b);
  }
};

struct max_no_nan {  // `max_nan` for values that are not NaN
  template <class T>
  static constexpr T identity = lowest<T>;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

// Memory policies: loads and stores of full vectors, or of the first n lanes (tail); booleans load
// as a mask.
template <class T>
struct full_vector {
  using D = hn::ScalableTag<T>;
  using B = hn::Rebind<std::uint8_t, D>;
  HWY_INLINE hn::Vec<D> load(const T* p) const { return hn::LoadU(D(), p); }
  HWY_INLINE void store(hn::Vec<D> v, T* p) const { hn::StoreU(v, D(), p); }
  HWY_INLINE hn::Mask<D> load_mask(const std::uint8_t* p) const {
    return mask_of(D(), hn::LoadU(B(), p));
  }
  HWY_INLINE hn::Vec<D> zero_tail(hn::Vec<D> v) const { return v; }  // 0 in the other lanes
};
template <class T>
struct partial_vector {
  using D = hn::ScalableTag<T>;
  using B = hn::Rebind<std::uint8_t, D>;
  std::size_t n;
  HWY_INLINE hn::Vec<D> load(const T* p) const { return load_n(D(), p, n); }
  HWY_INLINE void store(hn::Vec<D> v, T* p) const { store_n(v, D(), p, n); }
  HWY_INLINE hn::Mask<D> load_mask(const std::uint8_t* p) const {
    return mask_of(D(), load_n(B(), p, n));
  }
  HWY_INLINE hn::Vec<D> zero_tail(hn::Vec<D> v) const {
    return hn::IfThenElseZero(first_n(D(), n), v);
  }
};

// to[i] = f(memory, i), where f loads vectors from element i on, of `to` or others, through
// `memory`.
template <class T, class F>
HWY_INLINE void map_row(std::size_t n, F f, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t pairs = n - n % (2 * lanes), vectors = n - n % lanes;
  for (std::size_t i = 0; i < pairs; i += 2 * lanes) {
    const auto y = f(full_vector<T>(), i);
    const auto next = f(full_vector<T>(), i + lanes);
    hn::StoreU(y, d, to + i);
    hn::StoreU(next, d, to + i + lanes);
  }
  if (pairs < vectors) hn::StoreU(f(full_vector<T>(), pairs), d, to + pairs);
  if (vectors < n)
    store_n(f(partial_vector<T>{n - vectors}, vectors), d, to + vectors, n - vectors);
}

// to[i] = f(from[i]...). `to` may be one of `from`.
template <class T, class F, class... P>
HWY_INLINE void map(std::size_t n, F f, T* to, const P*... from) {
  map_row(
      n, [&](auto memory, std::size_t i) HWY_ATTR { return f(memory.load(from + i)...); }, to);
}

// Vectors in flight in a pass: as many independent accumulators hide their latency.
inline constexpr int accumulators = 4;

// Accumulates vectors that come one by one or several at once. There are several accumulators, for
// independent dependency chains, or one: that does not delay long-latency functions, and leaves
// them the registers.
template <class D, class Combine, int results = accumulators>
struct accumulator {
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  static_assert(results == accumulators || results == 1);

  vec_array<D, results> all;

  HWY_INLINE static accumulator start() {
    return {vec_array<D, results>::of([](int) HWY_ATTR { return identity_vector(); })};
  }
  HWY_INLINE void add(const vec_array<D, accumulators>& some) {
    if constexpr (results == accumulators)
      all.zip(some, Combine());
    else
      add(some.combine(Combine()));
  }
  HWY_INLINE void add(V v) { all.at[0] = Combine()(all.at[0], v); }
  HWY_INLINE void add_partial(std::size_t n, V v) {  // its first n lanes
    V& last = all.at[results / 2];
    last = Combine()(last, hn::IfThenElse(first_n(D(), n), v, identity_vector()));
  }
  HWY_INLINE T combined() const { return reduce_to_scalar(D(), all.combine(Combine()), Combine()); }

 private:
  HWY_INLINE static V identity_vector() { return hn::Set(D(), Combine::template identity<T>); }
};

// The largest value without regard to NaN, and the sum, which detects NaN: without one, it is NaN
// only if infinities of both signs meet. Its dependency chains are shorter than those of a maximum
// that propagates NaN.
template <class D>
struct max_and_nan_check {
  using V = hn::Vec<D>;

  accumulator<D, max_no_nan> numbers;
  accumulator<D, plus> sums;

  HWY_INLINE static max_and_nan_check start() {
    return {accumulator<D, max_no_nan>::start(), accumulator<D, plus>::start()};
  }
  HWY_INLINE void add(vec_array<D, accumulators> some) {
    some.map([](V v) HWY_ATTR { return opaque(v); });
    numbers.add(some);
    sums.add(some);
  }
  HWY_INLINE void add(V v) {
    numbers.add(v);
    sums.add(v);
  }
  HWY_INLINE void add_partial(std::size_t n, V v) {
    numbers.add_partial(n, v);
    sums.add_partial(n, v);
  }
  // NaN if a sum is.
  HWY_INLINE float combined() const {
    const float number = numbers.combined();
    return has_no_nan(sums.all.combine(plus())) ? number : nan;
  }

 private:
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  HWY_INLINE static bool has_no_nan(V v) { return HWY_LIKELY(hn::AllTrue(D(), hn::Eq(v, v))); }
};

// Combines all elements of a row in an Accumulator: f(memory, i, v) sets v, a vec_array of the
// vectors from element i on.
template <class Accumulator, class F>
HWY_INLINE auto reduce_row_of(std::size_t n, F f) {
  using T = decltype(Accumulator::start().combined());
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  auto all = Accumulator::start();
  vec_array<D, accumulators> some;
  vec_array<D, 1> one;
  const std::size_t groups = n - n % (accumulators * lanes), vectors = n - n % lanes;
  std::size_t i = 0;
  for (; i < groups; i += accumulators * lanes) {
    f(full_vector<T>(), i, some);
    all.add(some);
  }
  for (; i < vectors; i += lanes) {
    f(full_vector<T>(), i, one);
    all.add(one.at[0]);
  }
  // The remainder of n, not what the loops left: compilers see that it is the same for all rows.
  if (vectors < n) {
    f(partial_vector<T>{n - vectors}, vectors, one);
    all.add_partial(n - vectors, one.at[0]);
  }
  return all.combined();
}

// Adapts f(memory, i), which returns the vector from element i on, to reduce_row_of and sum_row.
template <class T, class F>
HWY_INLINE auto vectors_from(F f) {
  return [=](auto memory, std::size_t i, auto& v) HWY_ATTR {
    const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
    v = v.of([&](int j) HWY_ATTR { return f(memory, i + static_cast<std::size_t>(j) * lanes); });
  };
}
// reduce_row_of for a row in memory.
template <class Accumulator, class T>
HWY_INLINE T accumulate(std::size_t n, const T* x) {
  return reduce_row_of<Accumulator>(
      n, vectors_from<T>([=](auto memory, std::size_t i) HWY_ATTR { return memory.load(x + i); }));
}

// to[i] = the result of a long-latency function: f(memory, i, v) sets v, a vec_array of the vectors
// from element i on. With 32 registers, one vector at a time is enough: out-of-order execution
// overlaps iterations.
template <class T, class F>
HWY_INLINE void map_long_latency(std::size_t n, F f, T* to) {
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  const std::size_t groups = has_32_registers ? 0 : n - n % (accumulators * lanes);
  for (std::size_t i = 0; i < groups; i += accumulators * lanes) {
    vec_array<D, accumulators> some;
    f(full_vector<T>(), i, some);
    some.map_indexed([=](auto v, int j) HWY_ATTR {
      hn::StoreU(v, D(), to + i + static_cast<std::size_t>(j) * lanes);
      return v;
    });
  }
  map_row(
      n - groups,
      [&](auto memory, std::size_t i) HWY_ATTR {
        vec_array<D, 1> one;
        f(memory, groups + i, one);
        return one.at[0];
      },
      to + groups);
}

// The sum of a row. Blocks are accumulated in float, their sums in double: the error does not grow
// with n.
template <class F>
HWY_INLINE double sum_row(std::size_t n, F f) {
  constexpr std::size_t block = 1024;
  double total = 0;
  for (std::size_t start = 0; start < n; start += block) {
    using accumulator_of_sum = accumulator<hn::ScalableTag<float>, plus, 1>;
    total += static_cast<double>(reduce_row_of<accumulator_of_sum>(
        std::min(block, n - start),
        [&](auto memory, std::size_t i, auto& v) HWY_ATTR { f(memory, start + i, v); }));
  }
  return total;
}

// `count` sums over a row at once, in blocks as in sum_row: add(memory, i, sums) adds the terms of
// the vector from element i on to the sums, and 0 in lanes beyond the row.
template <int count, class F>
HWY_INLINE std::array<double, count> row_sums(std::size_t n, F add) {
  constexpr std::size_t block = 1024;
  using D = hn::ScalableTag<float>;
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::array<double, count> total{};
  std::size_t i = 0;
  do {
    const std::size_t end = std::min(i + block, n);
    auto s0 = vec_array<D, count>::of([=](int) HWY_ATTR { return hn::Zero(d); });
    auto s1 = s0, s2 = s0, s3 = s0;
    const std::size_t groups = end - end % (4 * lanes), vectors = end - end % lanes;
    for (; i < groups; i += 4 * lanes) {
      add(full_vector<float>(), i, s0);
      add(full_vector<float>(), i + lanes, s1);
      add(full_vector<float>(), i + 2 * lanes, s2);
      add(full_vector<float>(), i + 3 * lanes, s3);
    }
    // Not in a loop: compilers transform it differently, and all vectors would go to one
    // accumulator.
    if (end - i >= 2 * lanes) {
      add(full_vector<float>(), i, s0);
      add(full_vector<float>(), i + lanes, s1);
      i += 2 * lanes;
    }
    if (i < vectors) add(full_vector<float>(), i, s2);
    if (vectors < end) add(partial_vector<float>{end - vectors}, vectors, s3);
    i = end;
    s0.zip(s1, plus());
    s2.zip(s3, plus());
    s0.zip(s2, plus());
    for (int k = 0; k < count; ++k)
      total[static_cast<std::size_t>(k)] +=
          static_cast<double>(reduce_to_scalar(d, s0.at[k], plus()));
  } while (i < n);
  return total;
}

// The dot product of two rows.
HWY_INLINE double sum_of_products(std::size_t n, const float* x, const float* y) {
  return row_sums<1>(n, [=](auto memory, std::size_t i, auto& sums) HWY_ATTR {
    sums.at[0] = hn::MulAdd(memory.load(x + i), memory.load(y + i), sums.at[0]);
  })[0];
}

// Not inlined, as it is called for rows with NaN only.
HWY_NOINLINE inline float max_with_nan(std::size_t n, const float* x) {
  return accumulate<accumulator<hn::ScalableTag<float>, max_nan>>(n, x);
}

// The largest element; NaN if there is one, -infinity (or the least integer) in an empty row.
template <class T>
HWY_INLINE T max(std::size_t n, const T* x) {
  using D = hn::ScalableTag<T>;
  if constexpr (hwy::IsFloat<T>()) {
    const T number = accumulate<max_and_nan_check<D>>(n, x);
    return HWY_LIKELY(number == number) ? number : max_with_nan(n, x);
  } else {
    return accumulate<accumulator<D, max_nan>>(n, x);
  }
}

// The largest f(memory, i) of a row, a float. With a NaN it may be any value, which saves work for
// each element. -infinity for a row of nothing else.
template <class F>
HWY_INLINE float max_of_numbers(std::size_t n, F f) {
  using D = hn::ScalableTag<float>;
  const float number = reduce_row_of<accumulator<D, max_no_nan>>(n, vectors_from<float>(f));
  return number > lowest<float> ? number
                                : reduce_row_of<accumulator<D, max_nan>>(n, vectors_from<float>(f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
