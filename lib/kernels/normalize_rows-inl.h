// Normalizations of rows, and their adjoints.
#if defined(WEFT_KERNELS_NORMALIZE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_NORMALIZE_ROWS_INL_H_
#undef WEFT_KERNELS_NORMALIZE_ROWS_INL_H_
#else
#define WEFT_KERNELS_NORMALIZE_ROWS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/row-inl.h"
#include "kernels/row_driver.hpp"
#include "weft/kernels/moments.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// The moments of each row. The mean is center + rest, where the rest is no larger than two standard
// deviations: x - center is exact where x is close, and x - mean as precise as x, which it would
// not be with a mean that is rounded to a float.
struct moments {
  float center[max_rows];  // 0 if the mean is not subtracted; the variance is about that
  double rest[max_rows];
  float scale[max_rows];  // 1 / sqrt(variance + epsilon)
  float shift[max_rows];  // (x - mean) * scale is (x - center) * scale + shift
};

// The moments of the rows of one operand, from shifted data:
// variance = mean((x - c)^2) - (mean - c)^2. Where c is close to the mean, little cancels. The mean
// of four elements nearly always is; if not, the mean found with it is c in a second pass.
HWY_INLINE moments moments_of(const row_arguments& a, std::byte* const (&rows)[max_rows]) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const double share = 1 / static_cast<double>(a.length);
  moments m;
  double variance[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r) {
    const auto* x = reinterpret_cast<const float*>(rows[r]);
    m.center[r] = 0;
    m.rest[r] = 0;
    if (!a.subtract_mean) {
      variance[r] =
          share * row_sums<1>(a.length, [=](auto memory, std::size_t i, auto& sums) HWY_ATTR {
            const V v = opaque(memory.load(x + i));
            sums.at[0] = hn::MulAdd(v, v, sums.at[0]);
          })[0];
      continue;
    }
    const std::size_t last = a.length - 1;
    m.center[r] = ((x[0] + x[last / 3]) + (x[last - last / 3] + x[last])) / 4;
    for (bool again = true;; again = false) {
      const V center = hn::Set(d, m.center[r]);
      const auto [sum, squares] =
          row_sums<2>(a.length, [=](auto memory, std::size_t i, auto& sums) HWY_ATTR {
            const V centered = memory.zero_tail(hn::Sub(memory.load(x + i), center));
            sums.at[0] = hn::Add(sums.at[0], centered);
            sums.at[1] = hn::MulAdd(centered, centered, sums.at[1]);
          });
      m.rest[r] = sum * share;
      variance[r] = squares * share - m.rest[r] * m.rest[r];
      if (!again || !(m.rest[r] * m.rest[r] > 4 * variance[r])) break;
      m.center[r] = static_cast<float>(static_cast<double>(m.center[r]) + m.rest[r]);
    }
  }
  // Of each row by itself: its bits do not depend on the rows that are computed with it.
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (HWY_LIKELY(variance[r] < HUGE_VAL)) continue;
    const auto [mean, about] =
        moments_in_double(reinterpret_cast<const float*>(rows[r]), a.length, a.subtract_mean);
    m.center[r] = static_cast<float>(mean);
    m.rest[r] = mean - static_cast<double>(m.center[r]);
    variance[r] = about;
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    const double positive = std::max(variance[r], 0.0);  // NaN stays
    const double scale = 1 / std::sqrt(positive + a.scalar);
    m.scale[r] = static_cast<float>(scale);
    m.shift[r] = static_cast<float>(-m.rest[r] * scale);
  }
  return m;
}

namespace {

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

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
