// Softmax, log_softmax and their adjoints.
#if defined(WEFT_KERNELS_SOFTMAX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_SOFTMAX_ROWS_INL_H_
#undef WEFT_KERNELS_SOFTMAX_ROWS_INL_H_
#else
#define WEFT_KERNELS_SOFTMAX_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/column-inl.h"
#include "kernels/row-inl.h"
#include "kernels/row_driver.hpp"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// exp(score) divided by their sum, where score_less(row, memory, i, top) returns a row's scores
// from element i on less `top`.
template <class ScoreLess>
HWY_INLINE void softmax_of(const row_arguments& a, ScoreLess score_less) {
  float largest[max_rows];
  double total[max_rows];
  // A NaN that this misses reappears in the total.
  for (std::size_t r = 0; r < a.rows; ++r)
    largest[r] = max_of_numbers(a.length, [&, row = a.row(r)](auto memory, std::size_t i) HWY_ATTR {
      return score_less(row, memory, i, hn::Zero(D()));
    });
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (largest[r] == -infinity) continue;
    const V top = value(largest[r]);
    const auto scores =
        vectors_from<float>([&, row = a.row(r)](auto memory, std::size_t i)
                                HWY_ATTR { return score_less(row, memory, i, top); });
    total[r] =
        sum_row(a.length, [&, to = a.row(r).to](auto memory, std::size_t i, auto& v) HWY_ATTR {
          scores(memory, i, v);
          v = math::twice_exp(D(), v);
          v.map_indexed([=](V e, int j) HWY_ATTR {
            memory.store(e, to + i + static_cast<std::size_t>(j) * hn::Lanes(D()));
            return e;
          });
        });
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    float* to = a.row(r).to;
    if (largest[r] == -infinity) {
      std::fill_n(to, a.length, 0.0f);
      continue;
    }
    const V scale = value(1 / total[r]);
    map(
        a.length, [=](V e) HWY_ATTR { return hn::Mul(e, scale); }, to, to);
  }
}

// softmax of x * scale; with a mask, of -infinity where it does not hold.
void softmax(const row_arguments& a) {
  const V scale = value(a.scale);
  const auto less = [&](const row_pointers& row, auto memory, std::size_t i, V top)
                        HWY_ATTR { return hn::MulSub(memory.load(row.floats(0) + i), scale, top); };
  if (!a.has(1)) return softmax_of(a, less);
  softmax_of(a, [&](const row_pointers& row, auto memory, std::size_t i, V top) HWY_ATTR {
    const auto* mask = static_cast<const std::uint8_t*>(row.from[1]);
    return hn::IfThenElse(memory.load_mask(mask + i), less(row, memory, i, top), value(-infinity));
  });
}

void log_softmax(const row_arguments& a) {
  float largest[max_rows];
  double total[max_rows];
  // A NaN that this misses reappears in the total.
  for (std::size_t r = 0; r < a.rows; ++r)
    largest[r] = max_of_numbers(a.length, [x = a.row(r).floats(0)](auto memory, std::size_t i)
                                              HWY_ATTR { return memory.load(x + i); });
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V top = value(largest[r]);
    const auto scores =
        vectors_from<float>([&, x = a.row(r).floats(0)](auto memory, std::size_t i)
                                HWY_ATTR { return hn::Sub(memory.load(x + i), top); });
    total[r] = sum_row(a.length, [&](auto memory, std::size_t i, auto& v) HWY_ATTR {
      scores(memory, i, v);
      v = math::twice_exp(D(), v);
    });
  }
  // All at once: short rows would wait for the latency of one after another.
  const hn::CappedTag<float, max_rows> some;
  float log_total[max_rows] = {};
  for (std::size_t r = 0; r < a.rows; ++r) log_total[r] = static_cast<float>(total[r] / 2);
  for (std::size_t r = 0; r < a.rows; r += hn::Lanes(some))
    hn::StoreU(math::log(some, hn::LoadU(some, log_total + r)), some, log_total + r);
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (largest[r] == -infinity) {
      std::fill_n(a.row(r).to, a.length, -infinity);
      continue;
    }
    const V top = value(largest[r]);
    const V logs = value(log_total[r]);
    map(
        a.length, [=](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, top), logs); }, a.row(r).to,
        a.row(r).floats(0));
  }
}

void softmax_adjoint(const row_arguments& a) {
  double total[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r)
    total[r] = sum_of_products(a.length, a.row(r).floats(0), a.row(r).floats(1));
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V inner = value(total[r]);
    map(
        a.length, [=](V y, V g) HWY_ATTR { return hn::Mul(y, hn::Sub(g, inner)); }, a.row(r).to,
        a.row(r).floats(0), a.row(r).floats(1));
  }
}

// For a g that has one element in each row, at its index.
void log_softmax_adjoint_of_picked(const row_arguments& a) {
  for (std::size_t r = 0; r < a.rows; ++r) {
    const row_pointers row = a.row(r);
    const auto index = static_cast<std::size_t>(*static_cast<const std::int32_t*>(row.from[2]));
    const float g = index < a.length ? *row.floats(1) : 0;  // a negative one is beyond any length
    const V half = value(-g / 2);
    const auto logs = vectors_from<float>([x = row.floats(0)](auto memory, std::size_t i)
                                              HWY_ATTR { return memory.load(x + i); });
    map_long_latency(
        a.length,
        [&](auto memory, std::size_t i, auto& v) HWY_ATTR {
          logs(memory, i, v);
          v = math::twice_exp(D(), v);
          v.map([&](V e) HWY_ATTR { return hn::Mul(e, half); });
        },
        row.to);
    if (index < a.length) row.to[index] += g;
  }
}

void log_softmax_adjoint(const row_arguments& a) {
  if (a.has(2)) return log_softmax_adjoint_of_picked(a);
  double total[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r)
    total[r] = row_sums<1>(
        a.length, [g = a.row(r).floats(1)](auto memory, std::size_t i, auto& sums)
                      HWY_ATTR { sums.at[0] = hn::Add(sums.at[0], memory.load(g + i)); })[0];
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V half = value(total[r] / 2);
    const row_pointers row = a.row(r);
    const auto logs = vectors_from<float>([x = row.floats(0)](auto memory, std::size_t i)
                                              HWY_ATTR { return memory.load(x + i); });
    map_long_latency(
        a.length,
        [&, g = row.floats(1)](auto memory, std::size_t i, auto& v) HWY_ATTR {
          logs(memory, i, v);
          v = math::twice_exp(D(), v);
          v.map_indexed([&](V e, int j) HWY_ATTR {
            const std::size_t at = i + static_cast<std::size_t>(j) * hn::Lanes(D());
            return hn::NegMulAdd(e, half, memory.load(g + at));
          });
        },
        row.to);
  }
}

template <class ScoreLess>
HWY_INLINE void softmax_of_columns(const column_arguments& arguments, ScoreLess score_less) {
  const column_arguments a = arguments;  // a copy, which no store can alias
  for_columns(a, [&](auto memory, const row_pointers& first, auto count) HWY_ATTR {
    using some = vec_array<D, count>;
    const V lowest = value(-infinity);
    const some largest = combine_elements<count>(
        a, first, max_no_nan(), [&](V v, const row_pointers& at, std::size_t i) HWY_ATTR {
          return hn::Max(v, score_less(at, memory, i, hn::Zero(D())));
        });
    some total = some::of([](int) HWY_ATTR { return hn::Zero(D()); });
    // A NaN that this misses reappears in the total.
    some top = largest;
    top.map([=](V v) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, lowest), v); });
    for_elements(a, first, [&](const row_pointers& at) HWY_ATTR {
      some e = top;
      e.map_indexed([&](V t, int j) HWY_ATTR { return score_less(at, memory, offset_of(j), t); });
      e = math::twice_exp(D(), e);
      e.map_indexed([&](V v, int j) HWY_ATTR {
        memory.store(v, at.to + offset_of(j));
        return v;
      });
      total.zip(e, plus());
    });
    some scale = total;
    scale.zip(largest, [=](V sum, V of_largest) HWY_ATTR {
      const auto is_0 = hn::And(hn::Eq(of_largest, lowest), hn::Eq(sum, sum));
      return hn::IfThenZeroElse(is_0, hn::Div(value(1.0f), sum));
    });
    for_elements(a, first, [&](const row_pointers& at) HWY_ATTR {
      scale.map_indexed([&](V v, int j) HWY_ATTR {
        float* const to = at.to + offset_of(j);
        memory.store(hn::Mul(memory.load(to), v), to);
        return v;
      });
    });
  });
}
void softmax_columns(const column_arguments& a) {
  const V scale = value(a.scale);
  const auto less = [&](const row_pointers& at, auto memory, std::size_t i, V top)
                        HWY_ATTR { return hn::MulSub(memory.load(at.floats(0) + i), scale, top); };
  if (!a.has(1)) return softmax_of_columns(a, less);
  softmax_of_columns(a, [&](const row_pointers& at, auto memory, std::size_t i, V top) HWY_ATTR {
    const auto* mask = static_cast<const std::uint8_t*>(at.from[1]);
    return hn::IfThenElse(memory.load_mask(mask + i), less(at, memory, i, top), value(-infinity));
  });
}

void softmax_adjoint_columns(const column_arguments& arguments) {
  const column_arguments a = arguments;  // a copy, which no store can alias
  for_columns(a, [&](auto memory, const row_pointers& first, auto count) HWY_ATTR {
    vec_array<D, count> inner = combine_elements<count>(
        a, first, plus(), [&](V v, const row_pointers& at, std::size_t i) HWY_ATTR {
          return hn::MulAdd(memory.load(at.floats(0) + i), memory.load(at.floats(1) + i), v);
        });
    for_elements(a, first, [&](const row_pointers& at) HWY_ATTR {
      inner.map_indexed([&](V sum, int j) HWY_ATTR {
        const std::size_t i = offset_of(j);
        const V y = memory.load(at.floats(0) + i), g = memory.load(at.floats(1) + i);
        memory.store(hn::Mul(y, hn::Sub(g, sum)), at.to + i);
        return sum;
      });
    });
  });
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
