#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rowwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/moments-inl.h"
#include "kernels/row-inl.h"
#include "kernels/row_driver.hpp"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V value(float x) {
  return hn::Set(D(), x);
}
HWY_INLINE V value(double x) {
  return value(static_cast<float>(x));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

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
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (largest[r] == -infinity) {
      std::fill_n(a.row(r).to, a.length, -infinity);
      continue;
    }
    const V top = value(largest[r]);
    const V log_total = value(std::log(total[r] / 2));
    map(
        a.length, [=](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, top), log_total); }, a.row(r).to,
        a.row(r).floats(0));
  }
}

// (x - mean) * scale, times a gain and plus a bias where they are given, with x from one operand's
// rows.
void normalize_rows(const row_arguments& a, std::byte* const (&rows)[max_rows]) {
  const moments m = moments_of(a, rows);
  const auto normalize_row = [&](std::size_t r, auto normal) HWY_ATTR {
    const row_pointers row = a.row(r);
    const auto* from = reinterpret_cast<const float*>(rows[r]);
    if (row.from[2]) {
      map(
          a.length, [=](V x, V gain, V bias) HWY_ATTR { return hn::MulAdd(normal(x), gain, bias); },
          row.to, from, row.floats(1), row.floats(2));
    } else if (row.from[1]) {
      map(
          a.length, [=](V x, V gain) HWY_ATTR { return hn::Mul(normal(x), gain); }, row.to, from,
          row.floats(1));
    } else {
      map(a.length, normal, row.to, from);
    }
  };
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V center = value(m.center[r]), scale = value(m.scale[r]), shift = value(m.shift[r]);
    if (a.subtract_mean)
      normalize_row(r, [=](V x) HWY_ATTR { return hn::MulAdd(hn::Sub(x, center), scale, shift); });
    else
      normalize_row(r, [=](V x) HWY_ATTR { return hn::Mul(x, scale); });
  }
}

// The same for a sum of x and an addend, which is kept in the result until its moments are known.
void normalize(const row_arguments& a) {
  if (!a.has(3)) return normalize_rows(a, a.at[1]);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const row_pointers row = a.row(r);
    map(a.length, plus(), row.to, row.floats(0), row.floats(3));
  }
  normalize_rows(a, a.at[0]);
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

// Adds rows' terms of the gradients for the gain and the bias: g * normalize(x), and g.
template <std::size_t rows>
HWY_INLINE void add_to_sums(const row_arguments& a, const moments& m, std::size_t first) {
  V center[rows], scale[rows], shift[rows];
  const float *x[rows], *g[rows];
  for (std::size_t r = 0; r < rows; ++r) {
    center[r] = value(m.center[first + r]);
    scale[r] = value(m.scale[first + r]);
    shift[r] = value(m.shift[first + r]);
    x[r] = a.row(first + r).floats(0);
    g[r] = a.row(first + r).floats(1);
  }
  float *const gain_sums = a.gain_sums, *const bias_sums = a.bias_sums;
  map_row(
      a.length,
      [&](auto memory, std::size_t i) HWY_ATTR {
        V of_gain = memory.load(gain_sums + i), of_bias = memory.load(bias_sums + i);
        for (std::size_t r = 0; r < rows; ++r) {
          const V of_row = opaque(memory.load(g[r] + i));
          const V h = hn::MulAdd(hn::Sub(memory.load(x[r] + i), center[r]), scale[r], shift[r]);
          of_gain = hn::MulAdd(of_row, h, of_gain);
          of_bias = hn::Add(of_bias, of_row);
        }
        memory.store(of_bias, bias_sums + i);
        return of_gain;
      },
      gain_sums);
}

// With h = (x - mean) * scale, and g times the gain if there is one:
// scale * (g - mean(g) - h mean(g h)), plus the addend if there is one.
template <bool gain, bool addend>
HWY_INLINE void normalize_adjoint_of(const row_arguments& a) {
  const double share = 1 / static_cast<double>(a.length);
  const auto gradient = [](const row_pointers& row, auto memory, std::size_t i) HWY_ATTR {
    const V g = memory.load(row.floats(1) + i);
    if constexpr (gain) return hn::Mul(g, memory.load(row.floats(2) + i));
    return g;
  };
  const moments m = moments_of(a, a.at[1]);
  if (a.gain_sums && a.rows == max_rows)
    add_to_sums<max_rows>(a, m, 0);
  else if (a.gain_sums)
    for (std::size_t r = 0; r < a.rows; ++r) add_to_sums<1>(a, m, r);
  // The result is scale * g + slope * (x - center) * scale + constant.
  float slope[max_rows], constant[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r) {
    const row_pointers row = a.row(r);
    const V center = value(m.center[r]);
    const auto [of_g, of_gx] =
        row_sums<2>(a.length, [&](auto memory, std::size_t i, auto& sums) HWY_ATTR {
          const V g = opaque(gradient(row, memory, i));
          const V x = hn::Sub(memory.load(row.floats(0) + i), center);
          sums.at[0] = hn::Add(sums.at[0], g);
          sums.at[1] = hn::MulAdd(g, x, sums.at[1]);
        });
    const double scale = m.scale[r];
    const double along = -scale * share * (of_gx - m.rest[r] * of_g) * scale;
    constant[r] =
        a.subtract_mean ? static_cast<float>(-scale * share * of_g - along * m.rest[r] * scale) : 0;
    slope[r] = static_cast<float>(along);
  }
  const auto store_row = [&](std::size_t r, auto of_centered) HWY_ATTR {
    const row_pointers row = a.row(r);
    const V center = value(m.center[r]), scale = value(m.scale[r]);
    map_row(
        a.length,
        [&](auto memory, std::size_t i) HWY_ATTR {
          V rest = of_centered(hn::Sub(memory.load(row.floats(0) + i), center));
          if constexpr (addend) rest = hn::Add(rest, memory.load(row.floats(3) + i));
          return hn::MulAdd(scale, gradient(row, memory, i), rest);
        },
        row.to);
  };
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V everywhere = value(constant[r]), along = value(slope[r]), scale = value(m.scale[r]);
    const V both = value(slope[r] * m.scale[r]);
    // Of huge rows, the product of scales would be less than the least float.
    if (HWY_LIKELY(m.scale[r] > 0x1p-40f))
      store_row(r, [=](V x) HWY_ATTR { return hn::MulAdd(both, x, everywhere); });
    else
      store_row(r, [=](V x) HWY_ATTR { return hn::MulAdd(along, hn::Mul(x, scale), everywhere); });
  }
}
void normalize_adjoint(const row_arguments& a) {
  if (a.has(3))
    a.has(2) ? normalize_adjoint_of<true, true>(a) : normalize_adjoint_of<false, true>(a);
  else
    a.has(2) ? normalize_adjoint_of<true, false>(a) : normalize_adjoint_of<false, false>(a);
}

// Calls f(memory, first, count) for `count` vectors, a constant, of interleaved rows, with pointers
// to their first elements. Four vectors if there are as many: elements with a large stride soon
// evict each other from the caches, and with them the neighbours in their lines.
template <int n>
using vectors = std::integral_constant<int, n>;
template <class F>
HWY_INLINE void for_columns(const column_arguments& a, F f) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t row = 0;
  for (; row + accumulators * lanes <= a.width; row += accumulators * lanes)
    f(full_vector<float>(), a.from(row), vectors<accumulators>());
  for (; row + lanes <= a.width; row += lanes) f(full_vector<float>(), a.from(row), vectors<1>());
  if (row < a.width) f(partial_vector<float>{a.width - row}, a.from(row), vectors<1>());
}
HWY_INLINE std::size_t offset_of(int vector) {
  return static_cast<std::size_t>(vector) * hn::Lanes(D());
}
HWY_INLINE void to_next_elements(const column_arguments& a, row_pointers& at) {
  at.to += a.step[0] / bytes(dtype::float32);
  for (int i = 0; i < max_row_inputs; ++i)
    at.from[i] = static_cast<const std::byte*>(at.from[i]) + a.step[1 + i];
}
// Calls f(at) with pointers to each of the rows' elements in turn.
template <class F>
HWY_INLINE void for_elements(const column_arguments& a, row_pointers at, F f) {
  for (std::size_t left = a.length;;) {
    f(at);
    if (--left == 0) return;
    to_next_elements(a, at);
  }
}
// Reduces the rows' elements in n vectors: with(v, at, i) combines v with the elements of the rows
// from the i-th on. Even and odd elements have separate accumulators, which halves the dependency
// chain; the order is the same for any n.
template <int n, class Combine, class With>
HWY_INLINE vec_array<D, n> combine_elements(const column_arguments& a, row_pointers at,
                                            Combine combine, With with) {
  using some = vec_array<D, n>;
  some even = some::of([](int) HWY_ATTR { return value(Combine::template identity<float>); });
  some odd = even;
  const auto add = [&](some& s) HWY_ATTR {
    s.map_indexed([&](V v, int j) HWY_ATTR { return with(v, at, offset_of(j)); });
  };
  std::size_t left = a.length;
  for (; left > 2; left -= 2) {
    add(even);
    to_next_elements(a, at);
    add(odd);
    to_next_elements(a, at);
  }
  add(even);
  if (left == 2) {
    to_next_elements(a, at);
    add(odd);
  }
  even.zip(odd, combine);
  return even;
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

// In double, so that the errors of a long row do not add up.
template <bool reversed, std::size_t rows>
HWY_INLINE void cumulative_sum_of(const row_arguments& a, std::size_t first_row) {
  const float* from[rows];
  float* to[rows];
  double total[rows]{};
  for (std::size_t r = 0; r < rows; ++r) {
    from[r] = a.row(first_row + r).floats(0);
    to[r] = a.row(first_row + r).to;
  }
  for (std::size_t i = 0; i < a.length; ++i) {
    const std::size_t at = reversed ? a.length - 1 - i : i;
    for (std::size_t r = 0; r < rows; ++r) {
      total[r] += from[r][at];
      to[r][at] = static_cast<float>(total[r]);
    }
  }
}
template <bool reversed>
void cumulative_sum(const row_arguments& a) {
  if (a.rows == max_rows) return cumulative_sum_of<reversed, max_rows>(a, 0);
  for (std::size_t r = 0; r < a.rows; ++r) cumulative_sum_of<reversed, 1>(a, r);
}
template <bool reversed>
void cumulative_sum_columns(const column_arguments& arguments) {
  column_arguments a = arguments;  // a copy, which no store can alias
  if (reversed)
    for (int o = 0; o < 2; ++o) {
      a.at[o] += static_cast<std::ptrdiff_t>(a.length - 1) * a.step[o];
      a.step[o] = -a.step[o];
    }
  for_columns(a, [&](auto memory, const row_pointers& first, auto count) HWY_ATTR {
    auto total = vec_array<D, count>::of([](int) HWY_ATTR { return hn::Zero(D()); });
    for_elements(a, first, [&](const row_pointers& at) HWY_ATTR {
      total.map_indexed([&](V sum, int j) HWY_ATTR {
        sum = hn::Add(sum, memory.load(at.floats(0) + offset_of(j)));
        memory.store(sum, at.to + offset_of(j));
        return sum;
      });
    });
  });
}

// The kernel of a rowwise operation: for contiguous rows, and, if there is one, for interleaved
// rows.
template <row_function Rows, column_function Columns = nullptr>
struct row_kernel {
  static constexpr row_function rows = Rows;
  static constexpr column_function columns = Columns;
};
template <op>
struct row_op;
template <>
struct row_op<op::softmax> : row_kernel<&softmax, &softmax_columns> {};
template <>
struct row_op<op::log_softmax> : row_kernel<&log_softmax> {};
template <>
struct row_op<op::normalize> : row_kernel<&normalize> {};
template <>
struct row_op<op::rms_normalize> : row_kernel<&normalize> {};
template <>
struct row_op<op::cumulative_sum>
    : row_kernel<&cumulative_sum<false>, &cumulative_sum_columns<false>> {};
template <>
struct row_op<op::reverse_cumulative_sum>
    : row_kernel<&cumulative_sum<true>, &cumulative_sum_columns<true>> {};
template <>
struct row_op<op::softmax_adjoint> : row_kernel<&softmax_adjoint, &softmax_adjoint_columns> {};
template <>
struct row_op<op::log_softmax_adjoint> : row_kernel<&log_softmax_adjoint> {};
template <>
struct row_op<op::normalize_adjoint> : row_kernel<&normalize_adjoint> {};
template <>
struct row_op<op::rms_normalize_adjoint> : row_kernel<&normalize_adjoint> {};

struct row_functions {
  row_function rows;
  column_function columns;
};
struct row_functions_of_operation {
  template <op K>
  constexpr row_functions operator()() const {
    if constexpr (is_rowwise(K)) {
      static_assert(
          requires { row_op<K>::rows; },
          "kernels: a rowwise operation has no row_op in rowwise.cpp");
      return {row_op<K>::rows, row_op<K>::columns};
    } else {
      return {};
    }
  }
};
constexpr auto rows_of_operations = table_of_operations(row_functions_of_operation());

void rowwise(const call& c) noexcept {
  const row_functions f = rows_of_operations[c.kind];
  run_rowwise(c, f.rows, f.columns,
              [](const float* from, std::ptrdiff_t row, std::size_t rows, std::size_t columns,
                 float* to, std::ptrdiff_t pitch) {
                transpose(D(), {from, row, 1, rows, columns}, 1, to, pitch);
              });
}

}  // namespace

kernel_function rowwise_of_target() {
  return &rowwise;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(rowwise_of_target);

kernel_function rowwise_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rowwise_of_target)();
}

}  // namespace weft::kernels
#endif
