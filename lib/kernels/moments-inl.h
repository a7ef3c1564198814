// The mean and the variance of rows, for normalisations and their adjoints.
#if defined(WEFT_KERNELS_MOMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MOMENTS_INL_H_
#undef WEFT_KERNELS_MOMENTS_INL_H_
#else
#define WEFT_KERNELS_MOMENTS_INL_H_
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

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
