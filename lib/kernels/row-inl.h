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
#include <type_traits>

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

// Combines vectors from anywhere in a row, in any order: several accumulators, for independent
// dependency chains.
template <class D, class Combine>
struct accumulator {
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  vec_array<D, accumulators> all;

  HWY_INLINE static accumulator start() {
    return {vec_array<D, accumulators>::of([](int) HWY_ATTR { return identity_vector(); })};
  }
  HWY_INLINE void add(const vec_array<D, accumulators>& some) { all.zip(some, Combine()); }
  HWY_INLINE void add(V v) { all.at[0] = Combine()(all.at[0], v); }
  HWY_INLINE void add_partial(std::size_t n, V v) {  // its first n lanes
    V& last = all.at[accumulators / 2];
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

// The elements of a row that are summed in float; sums of longer rows are added in double, so that
// the error does not grow with the length.
inline constexpr std::size_t float_block = 1024;

// Calls f(j) for each vector j of a block of sum_lanes elements, with constants.
template <int j = 0, class F>
HWY_INLINE void for_sum_vectors(F f) {
  f(std::integral_constant<int, j>());
  if constexpr (j + 1 < sum_vectors) for_sum_vectors<j + 1>(f);
}

// The sum of a row of a long-latency function: f(memory, i, v) sets v, a vec_array of the vectors
// from element i on. One accumulator, whose chain of additions is short next to the function's
// latency: it leaves the registers to the function.
template <class F>
HWY_INLINE double sum_row(std::size_t n, F f) {
  using D = hn::ScalableTag<float>;
  using block = vec_array<D, sum_vectors>;
  const std::size_t lanes = hn::Lanes(D());
  static_assert(accumulators % sum_vectors == 0);
  double total = 0;
  for (std::size_t start = 0; start < n; start += float_block) {
    const std::size_t length = std::min(float_block, n - start);
    const std::size_t groups = length - length % (accumulators * lanes);
    block sums = block::of([](int) HWY_ATTR { return hn::Zero(D()); });
    std::size_t i = 0;
    for (; i < groups; i += accumulators * lanes) {
      vec_array<D, accumulators> some;
      f(full_vector<float>(), start + i, some);
      for (int b = 0; b < accumulators; b += sum_vectors)
        sums.map_indexed([&](auto sum, int j) HWY_ATTR { return hn::Add(sum, some.at[b + j]); });
    }
    // At most as many vectors as a group has: vector j of them is vector j of a block.
    vec_array<D, 1> one;
    const auto add = [&](auto j) HWY_ATTR {
      auto& sum = sums.at[j % sum_vectors];
      if (length - i >= lanes) {
        f(full_vector<float>(), start + i, one);
        sum = hn::Add(sum, one.at[0]);
        i += lanes;
      } else if (i < length) {
        const partial_vector<float> last{length - i};
        f(last, start + i, one);
        sum = hn::Add(sum, last.zero_tail(one.at[0]));
        i = length;
      }
    };
    while (i < length) for_sum_vectors(add);
    total += static_cast<double>(reduce_to_scalar(D(), sums, plus()));
  }
  return total;
}

// The sums of every step-th vector of a block of sum_lanes elements, from the first on: `count`
// sums over n elements. Four accumulators for each.
template <int count, class F>
HWY_INLINE vec_array<hn::ScalableTag<float>, count> sums_of_vector(std::size_t begin,
                                                                   std::size_t end,
                                                                   std::size_t first, F add) {
  using D = hn::ScalableTag<float>;
  const std::size_t lanes = hn::Lanes(D());
  const auto add_at = [&](std::size_t i, auto& sums)
                          HWY_ATTR { add(full_vector<float>(), i + first, sums); };
  auto s0 = vec_array<D, count>::of([](int) HWY_ATTR { return hn::Zero(D()); });
  auto s1 = s0, s2 = s0, s3 = s0;
  const std::size_t length = end - begin;
  const std::size_t groups = end - length % (4 * sum_lanes), blocks = end - length % sum_lanes;
  std::size_t i = begin;
  for (; i < groups; i += 4 * sum_lanes) {
    add_at(i, s0);
    add_at(i + sum_lanes, s1);
    add_at(i + 2 * sum_lanes, s2);
    add_at(i + 3 * sum_lanes, s3);
  }
  // Not in a loop: compilers transform it differently, and all vectors would go to one accumulator.
  if (blocks - i >= 2 * sum_lanes) {
    add_at(i, s0);
    add_at(i + sum_lanes, s1);
    i += 2 * sum_lanes;
  }
  if (i < blocks) add_at(i, s2);
  if (blocks + first + lanes <= end)
    add_at(blocks, s3);
  else if (blocks + first < end)
    add(partial_vector<float>{end - blocks - first}, blocks + first, s3);
  s0.zip(s1, plus());
  s2.zip(s3, plus());
  s0.zip(s2, plus());
  return s0;
}
// `count` sums over a row at once, in blocks as in sum_row: add(memory, i, sums) adds the terms of
// the vector from element i on to the sums, and 0 in lanes beyond the row. Where a block has
// several vectors there is a pass for each: all at once would have more accumulators than there are
// registers.
template <int count, class F>
HWY_INLINE std::array<double, count> row_sums(std::size_t n, F add) {
  using D = hn::ScalableTag<float>;
  std::array<double, count> total{};
  std::size_t i = 0;
  do {
    const std::size_t end = std::min(i + float_block, n);
    vec_array<D, count * sum_vectors> all;
    for_sum_vectors([&](auto j) HWY_ATTR {
      const auto sums =
          sums_of_vector<count>(i, end, static_cast<std::size_t>(j()) * hn::Lanes(D()), add);
      for (int k = 0; k < count; ++k) all.at[k * sum_vectors + j] = sums.at[k];
    });
    i = end;
    for (int k = 0; k < count; ++k) {
      const auto block = vec_array<D, sum_vectors>::of(
          [&](int j) HWY_ATTR { return all.at[k * sum_vectors + j]; });
      total[static_cast<std::size_t>(k)] +=
          static_cast<double>(reduce_to_scalar(D(), block, plus()));
    }
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

// The largest element; NaN if there is one, -infinity (or the least integer) in an empty row. Never
// -0: which zero of both signs is the maximum depends on the order, and on the target.
template <class T>
HWY_INLINE T max(std::size_t n, const T* x) {
  using D = hn::ScalableTag<T>;
  if constexpr (hwy::IsFloat<T>()) {
    const T number = accumulate<max_and_nan_check<D>>(n, x);
    return HWY_LIKELY(number == number) ? number + 0.0f : max_with_nan(n, x);
  } else {
    return accumulate<accumulator<D, max_nan>>(n, x);
  }
}

// The largest f(memory, i) of a row, a float. With a NaN it may be any value, which saves work for
// each element. -infinity for a row of nothing else; never -0.
template <class F>
HWY_INLINE float max_of_numbers(std::size_t n, F f) {
  using D = hn::ScalableTag<float>;
  const float number = reduce_row_of<accumulator<D, max_no_nan>>(n, vectors_from<float>(f));
  return number > lowest<float> ? number + 0.0f
                                : reduce_row_of<accumulator<D, max_nan>>(n, vectors_from<float>(f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
