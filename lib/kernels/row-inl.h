// Passes over contiguous rows: map, and sums and maxima of what a map would return. Functions are
// captured by reference: g++ copies closures that hold vectors through memory, row by row.
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

#include "weft/kernels/bundle-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/lanes-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The least of a type's values.
template <class T>
inline constexpr T least = std::numeric_limits<T>::has_infinity
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

struct larger {
  template <class T>
  static constexpr T identity = least<T>;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return math::maximum(a, b);
  }
};

struct not_less {  // `larger` for values that are not NaN
  template <class T>
  static constexpr T identity = least<T>;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

// Memory policies: loads and stores of full vectors, or of the first n lanes (tail); booleans load
// as a mask.
template <class T>
struct whole {
  using D = hn::ScalableTag<T>;
  using B = hn::Rebind<std::uint8_t, D>;
  HWY_INLINE hn::Vec<D> load(const T* p) const { return hn::LoadU(D(), p); }
  HWY_INLINE void store(hn::Vec<D> v, T* p) const { hn::StoreU(v, D(), p); }
  HWY_INLINE hn::Mask<D> holds(const std::uint8_t* p) const {
    return mask_of(D(), hn::LoadU(B(), p));
  }
  HWY_INLINE hn::Vec<D> only(hn::Vec<D> v) const { return v; }  // 0 in the other lanes
};
template <class T>
struct first {
  using D = hn::ScalableTag<T>;
  using B = hn::Rebind<std::uint8_t, D>;
  std::size_t n;
  HWY_INLINE hn::Vec<D> load(const T* p) const { return load_n(D(), p, n); }
  HWY_INLINE void store(hn::Vec<D> v, T* p) const { store_n(v, D(), p, n); }
  HWY_INLINE hn::Mask<D> holds(const std::uint8_t* p) const {
    return mask_of(D(), load_n(B(), p, n));
  }
  HWY_INLINE hn::Vec<D> only(hn::Vec<D> v) const { return hn::IfThenElseZero(first_n(D(), n), v); }
};

// to[i] = f(memory, i), where f loads vectors from element i on, of `to` or others, through
// `memory`.
template <class T, class F>
HWY_INLINE void map_at(std::size_t n, F f, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t pairs = n - n % (2 * lanes), vectors = n - n % lanes;
  for (std::size_t i = 0; i < pairs; i += 2 * lanes) {
    const auto y = f(whole<T>(), i);
    const auto next = f(whole<T>(), i + lanes);
    hn::StoreU(y, d, to + i);
    hn::StoreU(next, d, to + i + lanes);
  }
  if (pairs < vectors) hn::StoreU(f(whole<T>(), pairs), d, to + pairs);
  if (vectors < n) store_n(f(first<T>{n - vectors}, vectors), d, to + vectors, n - vectors);
}

// to[i] = f(from[i]...). `to` may be one of `from`.
template <class T, class F, class... P>
HWY_INLINE void map(std::size_t n, F f, T* to, const P*... from) {
  map_at(
      n, [&](auto memory, std::size_t i) HWY_ATTR { return f(memory.load(from + i)...); }, to);
}

// Vectors in flight in a pass: as many independent accumulators hide their latency.
inline constexpr int chains = 4;

// Accumulates vectors that come one by one or several at once. There are several accumulators, for
// independent dependency chains, or one: that does not delay long-latency functions, and leaves
// them the registers.
template <class D, class Combine, int results = chains>
struct running {
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  static_assert(results == chains || results == 1);

  bundle<D, results> all;

  HWY_INLINE static running start() {
    return {bundle<D, results>::of([](int) HWY_ATTR { return none(); })};
  }
  HWY_INLINE void add(const bundle<D, chains>& some) {
    if constexpr (results == chains)
      all.zip(some, Combine());
    else
      add(some.combine(Combine()));
  }
  HWY_INLINE void add(V v) { all.at[0] = Combine()(all.at[0], v); }
  HWY_INLINE void add_first(std::size_t n, V v) {  // its first n lanes
    V& last = all.at[results / 2];
    last = Combine()(last, hn::IfThenElse(first_n(D(), n), v, none()));
  }
  HWY_INLINE T combined() const { return number_of_lanes(D(), all.combine(Combine()), Combine()); }
  HWY_INLINE T combined(hn::Mask<D> some) const {  // these lanes
    const V those = hn::IfThenElse(some, all.combine(Combine()), none());
    return number_of_lanes(D(), those, Combine());
  }

 private:
  HWY_INLINE static V none() { return hn::Set(D(), Combine::template identity<T>); }
};

// The largest value without regard to NaN, and the sum, which detects NaN: without one, it is NaN
// only if infinities of both signs meet. Its dependency chains are shorter than those of a maximum
// that propagates NaN.
template <class D>
struct largest_number {
  using V = hn::Vec<D>;

  running<D, not_less> numbers;
  running<D, plus> sums;

  HWY_INLINE static largest_number start() {
    return {running<D, not_less>::start(), running<D, plus>::start()};
  }
  HWY_INLINE void add(bundle<D, chains> some) {
    some.map([](V v) HWY_ATTR { return in_register(v); });
    numbers.add(some);
    sums.add(some);
  }
  HWY_INLINE void add(V v) {
    numbers.add(v);
    sums.add(v);
  }
  HWY_INLINE void add_first(std::size_t n, V v) {
    numbers.add_first(n, v);
    sums.add_first(n, v);
  }
  // NaN if a sum is. The maximum comes first: g++ would spill what only a branch needs.
  HWY_INLINE float combined() const {
    const float number = numbers.combined();
    return are_numbers(sums.all.combine(plus())) ? number : nan;
  }
  HWY_INLINE float combined(hn::Mask<D> some) const {  // these lanes
    const V those = hn::IfThenElseZero(some, sums.all.combine(plus()));
    const float number = numbers.combined(some);
    return are_numbers(those) ? number : nan;
  }

 private:
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  HWY_INLINE static bool are_numbers(V v) { return HWY_LIKELY(hn::AllTrue(D(), hn::Eq(v, v))); }
};

// Accumulates all elements of a row in a Running: f(memory, i, v) sets v, a bundle of the vectors
// from element i on.
template <class Running, class F>
HWY_INLINE Running running_at(std::size_t n, F f) {
  using T = decltype(Running::start().combined());
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  auto all = Running::start();
  bundle<D, chains> some;
  bundle<D, 1> one;
  const std::size_t groups = n - n % (chains * lanes), vectors = n - n % lanes;
  std::size_t i = 0;
  for (; i < groups; i += chains * lanes) {
    f(whole<T>(), i, some);
    all.add(some);
  }
  for (; i < vectors; i += lanes) {
    f(whole<T>(), i, one);
    all.add(one.at[0]);
  }
  // The remainder of n, not what the loops left: compilers see that it is the same for all rows.
  if (vectors < n) {
    f(first<T>{n - vectors}, vectors, one);
    all.add_first(n - vectors, one.at[0]);
  }
  return all;
}
// The same, combined to one value.
template <class Running, class F>
HWY_INLINE auto accumulate_at(std::size_t n, F f) {
  return running_at<Running>(n, f).combined();
}

// Adapts f(memory, i), which returns the vector from element i on, to accumulate_at and sum_at.
template <class T, class F>
HWY_INLINE auto each(F f) {
  return [=](auto memory, std::size_t i, auto& v) HWY_ATTR {
    const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
    v = v.of([&](int j) HWY_ATTR { return f(memory, i + static_cast<std::size_t>(j) * lanes); });
  };
}
// accumulate_at for a row in memory.
template <class Running, class T>
HWY_INLINE T accumulate(std::size_t n, const T* x) {
  return accumulate_at<Running>(
      n, each<T>([=](auto memory, std::size_t i) HWY_ATTR { return memory.load(x + i); }));
}

// to[i] = the result of a long-latency function: f(memory, i, v) sets v, a bundle of the vectors
// from element i on. With 32 registers, one vector at a time is enough: out-of-order execution
// overlaps iterations.
template <class T, class F>
HWY_INLINE void map_some_at(std::size_t n, F f, T* to) {
  using D = hn::ScalableTag<T>;
  const std::size_t lanes = hn::Lanes(D());
  const std::size_t groups = has_32_registers ? 0 : n - n % (chains * lanes);
  for (std::size_t i = 0; i < groups; i += chains * lanes) {
    bundle<D, chains> some;
    f(whole<T>(), i, some);
    some.map_indexed([=](auto v, int j) HWY_ATTR {
      hn::StoreU(v, D(), to + i + static_cast<std::size_t>(j) * lanes);
      return v;
    });
  }
  map_at(
      n - groups,
      [&](auto memory, std::size_t i) HWY_ATTR {
        bundle<D, 1> one;
        f(memory, groups + i, one);
        return one.at[0];
      },
      to + groups);
}

// The sum of a row. Blocks are accumulated in float, their sums in double: the error does not grow
// with n.
template <class F>
HWY_INLINE double sum_at(std::size_t n, F f) {
  constexpr std::size_t block = 1024;
  double total = 0;
  for (std::size_t start = 0; start < n; start += block) {
    using running_sum = running<hn::ScalableTag<float>, plus, 1>;
    total += static_cast<double>(accumulate_at<running_sum>(
        std::min(block, n - start),
        [&](auto memory, std::size_t i, auto& v) HWY_ATTR { f(memory, start + i, v); }));
  }
  return total;
}

// `count` sums over a row at once, in blocks as in sum_at: add(memory, i, sums) adds the terms of
// the vector from element i on to the sums, and 0 in lanes beyond the row. A function that takes
// four sums is given four, for as many consecutive vectors.
template <int count, class F>
HWY_INLINE std::array<double, count> sums_at(std::size_t n, F add) {
  constexpr std::size_t block = 1024;
  using D = hn::ScalableTag<float>;
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::array<double, count> total{};
  std::size_t i = 0;
  do {
    const std::size_t end = std::min(i + block, n);
    auto s0 = bundle<D, count>::of([=](int) HWY_ATTR { return hn::Zero(d); });
    auto s1 = s0, s2 = s0, s3 = s0;
    const std::size_t groups = end - end % (4 * lanes), vectors = end - end % lanes;
    for (; i < groups; i += 4 * lanes) {
      if constexpr (std::is_invocable_v<F, whole<float>, std::size_t, decltype(s0)&, decltype(s1)&,
                                        decltype(s2)&, decltype(s3)&>) {
        add(whole<float>(), i, s0, s1, s2, s3);
      } else {
        add(whole<float>(), i, s0);
        add(whole<float>(), i + lanes, s1);
        add(whole<float>(), i + 2 * lanes, s2);
        add(whole<float>(), i + 3 * lanes, s3);
      }
    }
    // Not in a loop: compilers transform it differently, and all vectors would go to one
    // accumulator.
    if (end - i >= 2 * lanes) {
      add(whole<float>(), i, s0);
      add(whole<float>(), i + lanes, s1);
      i += 2 * lanes;
    }
    if (i < vectors) add(whole<float>(), i, s2);
    if (vectors < end) add(first<float>{end - vectors}, vectors, s3);
    i = end;
    s0.zip(s1, plus());
    s2.zip(s3, plus());
    s0.zip(s2, plus());
    for (int k = 0; k < count; ++k)
      total[static_cast<std::size_t>(k)] +=
          static_cast<double>(number_of_lanes(d, s0.at[k], plus()));
  } while (i < n);
  return total;
}

// The dot product of two rows. Vectors of x are loaded first: where loads of two rows alternate
// vector by vector, the caches lose throughput.
HWY_INLINE double sum_of_products(std::size_t n, const float* x, const float* y) {
  using D = hn::ScalableTag<float>;
  return sums_at<1>(n, [=](auto memory, std::size_t i, auto&... sums) HWY_ATTR {
    const std::size_t lanes = hn::Lanes(D());
    const auto of_x = bundle<D, sizeof...(sums)>::of([=](int j) HWY_ATTR {
      return in_register(memory.load(x + i + static_cast<std::size_t>(j) * lanes));
    });
    std::size_t j = 0;
    ((sums.at[0] = hn::MulAdd(of_x.at[j], memory.load(y + i + j * lanes), sums.at[0]), ++j), ...);
  })[0];
}

// Not inline: next to another pass over a row, g++ has no registers left for this one.
HWY_NOINLINE inline float max_with_nan(std::size_t n, const float* x) {
  return accumulate<running<hn::ScalableTag<float>, larger>>(n, x);
}

// The largest element; NaN if there is one, -infinity (or the least integer) in an empty row.
template <class T>
HWY_INLINE T max(std::size_t n, const T* x) {
  using D = hn::ScalableTag<T>;
  if constexpr (hwy::IsFloat<T>()) {
    const T number = accumulate<largest_number<D>>(n, x);
    return HWY_LIKELY(number == number) ? number : max_with_nan(n, x);
  } else {
    return accumulate<running<D, larger>>(n, x);
  }
}

// The largest f(memory, i) of a row, a float. With a NaN it may be any value, which saves work for
// each element. -infinity for a row of nothing else.
template <class F>
HWY_INLINE float max_of_numbers(std::size_t n, F f) {
  using D = hn::ScalableTag<float>;
  const float number = accumulate_at<running<D, not_less>>(n, each<float>(f));
  return number > least<float> ? number : accumulate_at<running<D, larger>>(n, each<float>(f));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
