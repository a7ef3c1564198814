#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rowwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/contiguous.hpp"
#include "kernels/entry.hpp"
#include "kernels/hwy-inl.h"
#include "kernels/math-inl.h"
#include "kernels/row-inl.h"

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

void softmax(const row_arguments& a) {
  float largest[max_rows];
  double total[max_rows];
  // A NaN comes back with the total.
  for (std::size_t r = 0; r < a.rows; ++r) largest[r] = max_of_numbers(a.length, a.row[r].from[0]);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V top = value(largest[r]);
    if (largest[r] == -infinity) continue;
    total[r] = map_and_sum(
        a.length, [=](V x) HWY_ATTR { return math::twice_exp(D(), hn::Sub(x, top)); }, a.row[r].to,
        a.row[r].from[0]);
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    float* to = a.row[r].to;
    if (largest[r] == -infinity) {
      std::fill_n(to, a.length, 0.0f);
      continue;
    }
    const V scale = value(1 / total[r]);
    map(
        a.length, [=](V e) HWY_ATTR { return hn::Mul(e, scale); }, to, to);
  }
}

void log_softmax(const row_arguments& a) {
  float largest[max_rows];
  double total[max_rows];
  // A NaN comes back with the total.
  for (std::size_t r = 0; r < a.rows; ++r) largest[r] = max_of_numbers(a.length, a.row[r].from[0]);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V top = value(largest[r]);
    total[r] = sum(
        a.length, [=](V x) HWY_ATTR { return math::twice_exp(D(), hn::Sub(x, top)); },
        a.row[r].from[0]);
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (largest[r] == -infinity) {
      std::fill_n(a.row[r].to, a.length, -infinity);
      continue;
    }
    const V top = value(largest[r]);
    const V log_total = value(std::log(total[r] / 2));
    map(
        a.length, [=](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, top), log_total); }, a.row[r].to,
        a.row[r].from[0]);
  }
}

// Of each row, in two passes: the mean of squares less the square of the mean would cancel.
struct moments {
  float mean[max_rows];
  float scale[max_rows];  // 1 / sqrt(variance + epsilon)
};

HWY_INLINE moments moments_of(const row_arguments& a) {
  const double share = 1 / static_cast<double>(a.length);
  moments m;
  for (std::size_t r = 0; r < a.rows; ++r)
    m.mean[r] = static_cast<float>(sum(a.length, itself(), a.row[r].from[0]) * share);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V mean = value(m.mean[r]);
    const double squares = sum(
        a.length,
        [=](V x) HWY_ATTR {
          const V centered = hn::Sub(x, mean);
          return hn::Mul(centered, centered);
        },
        a.row[r].from[0]);
    m.scale[r] = static_cast<float>(1 / std::sqrt(squares * share + a.scalar));
  }
  return m;
}

void normalize(const row_arguments& a) {
  const moments m = moments_of(a);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V mean = value(m.mean[r]), scale = value(m.scale[r]);
    map(
        a.length, [=](V x) HWY_ATTR { return hn::Mul(hn::Sub(x, mean), scale); }, a.row[r].to,
        a.row[r].from[0]);
  }
}

void softmax_adjoint(const row_arguments& a) {
  double total[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r)
    total[r] = sum(
        a.length, [](V y, V g) HWY_ATTR { return hn::Mul(y, g); }, a.row[r].from[0],
        a.row[r].from[1]);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V inner = value(total[r]);
    map(
        a.length, [=](V y, V g) HWY_ATTR { return hn::Mul(y, hn::Sub(g, inner)); }, a.row[r].to,
        a.row[r].from[0], a.row[r].from[1]);
  }
}

void log_softmax_adjoint(const row_arguments& a) {
  double total[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r) total[r] = sum(a.length, itself(), a.row[r].from[1]);
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V half = value(total[r] / 2);
    map(
        a.length,
        [=](V y, V g) HWY_ATTR { return hn::NegMulAdd(math::twice_exp(D(), y), half, g); },
        a.row[r].to, a.row[r].from[0], a.row[r].from[1]);
  }
}

// With h = (x - mean) * scale: scale * (g - mean(g) - h mean(g h)).
void normalize_adjoint(const row_arguments& a) {
  const double share = 1 / static_cast<double>(a.length);
  const moments m = moments_of(a);
  double mean_g[max_rows], mean_gh[max_rows];
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V mean = value(m.mean[r]);
    mean_g[r] = sum(a.length, itself(), a.row[r].from[1]) * share;
    mean_gh[r] = sum(
                     a.length, [=](V x, V g) HWY_ATTR { return hn::Mul(g, hn::Sub(x, mean)); },
                     a.row[r].from[0], a.row[r].from[1]) *
                 static_cast<double>(m.scale[r]) * share;
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    const V mean = value(m.mean[r]), scale = value(m.scale[r]);
    const V of_g = value(mean_g[r]), of_gh = value(mean_gh[r]);
    map(
        a.length,
        [=](V x, V g) HWY_ATTR {
          const V h = hn::Mul(hn::Sub(x, mean), scale);
          return hn::Mul(scale, hn::NegMulAdd(h, of_gh, hn::Sub(g, of_g)));
        },
        a.row[r].to, a.row[r].from[0], a.row[r].from[1]);
  }
}

row_function row_function_of(op kind) {
  switch (kind) {
    case op::softmax:
      return &softmax;
    case op::log_softmax:
      return &log_softmax;
    case op::normalize:
      return &normalize;
    case op::softmax_adjoint:
      return &softmax_adjoint;
    case op::log_softmax_adjoint:
      return &log_softmax_adjoint;
    case op::normalize_adjoint:
      return &normalize_adjoint;
    default:
      return nullptr;
  }
}

void rowwise(const call& c) noexcept {
  run_rowwise(c, c.kind >= op::softmax_adjoint ? 2 : 1, row_function_of(c.kind));
}

}  // namespace

kernel rowwise_of_target() {
  return &rowwise;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(rowwise_of_target);

kernel rowwise_kernel() noexcept {
  return HWY_DYNAMIC_DISPATCH(rowwise_of_target)();
}

}  // namespace weft::kernels
#endif
