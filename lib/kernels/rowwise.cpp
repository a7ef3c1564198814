#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rowwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <cmath>
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
  const float largest = max(a.length, a.from[0]);
  if (largest == -infinity) {
    map(
        a.length, [](V) HWY_ATTR { return value(0.0f); }, a.to, a.from[0]);
    return;
  }
  map(
      a.length, [=](V x) HWY_ATTR { return math::exp(D(), hn::Sub(x, value(largest))); }, a.to,
      a.from[0]);
  const double scale = 1 / sum(a.length, itself(), a.to);
  map(
      a.length, [=](V e) HWY_ATTR { return hn::Mul(e, value(scale)); }, a.to, a.to);
}

void log_softmax(const row_arguments& a) {
  const float largest = max(a.length, a.from[0]);
  if (largest == -infinity) {
    map(
        a.length, [](V) HWY_ATTR { return value(-infinity); }, a.to, a.from[0]);
    return;
  }
  const double log_total = std::log(sum(
      a.length, [=](V x) HWY_ATTR { return math::exp(D(), hn::Sub(x, value(largest))); },
      a.from[0]));
  map(
      a.length, [=](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, value(largest)), value(log_total)); },
      a.to, a.from[0]);
}

struct moments {
  float mean;
  float scale;  // 1 / sqrt(variance + epsilon)
};

// In two passes: the mean of squares less the square of the mean would cancel.
HWY_INLINE moments moments_of(const row_arguments& a) {
  const auto n = static_cast<double>(a.length);
  const double mean = sum(a.length, itself(), a.from[0]) / n;
  const double squares = sum(
      a.length,
      [=](V x) HWY_ATTR {
        const V centered = hn::Sub(x, value(mean));
        return hn::Mul(centered, centered);
      },
      a.from[0]);
  return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt(squares / n + a.scalar))};
}

void normalize(const row_arguments& a) {
  const moments m = moments_of(a);
  map(
      a.length, [=](V x) HWY_ATTR { return hn::Mul(hn::Sub(x, value(m.mean)), value(m.scale)); },
      a.to, a.from[0]);
}

void softmax_adjoint(const row_arguments& a) {
  const double inner = sum(
      a.length, [](V y, V g) HWY_ATTR { return hn::Mul(y, g); }, a.from[0], a.from[1]);
  map(
      a.length, [=](V y, V g) HWY_ATTR { return hn::Mul(y, hn::Sub(g, value(inner))); }, a.to,
      a.from[0], a.from[1]);
}

void log_softmax_adjoint(const row_arguments& a) {
  const double total = sum(a.length, itself(), a.from[1]);
  map(
      a.length,
      [=](V y, V g) HWY_ATTR { return hn::NegMulAdd(math::exp(D(), y), value(total), g); }, a.to,
      a.from[0], a.from[1]);
}

// With h = (x - mean) * scale: scale * (g - mean(g) - h mean(g h)).
void normalize_adjoint(const row_arguments& a) {
  const auto n = static_cast<double>(a.length);
  const moments m = moments_of(a);
  const double mean_g = sum(a.length, itself(), a.from[1]) / n;
  const double mean_gh =
      sum(
          a.length, [=](V x, V g) HWY_ATTR { return hn::Mul(g, hn::Sub(x, value(m.mean))); },
          a.from[0], a.from[1]) *
      static_cast<double>(m.scale) / n;
  map(
      a.length,
      [=](V x, V g) HWY_ATTR {
        const V h = hn::Mul(hn::Sub(x, value(m.mean)), value(m.scale));
        const V centered = hn::Sub(g, value(mean_g));
        return hn::Mul(value(m.scale), hn::NegMulAdd(h, value(mean_gh), centered));
      },
      a.to, a.from[0], a.from[1]);
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
