#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/peak.hpp"
#include "weft/kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// Floating-point operations per iteration: 12 vectors of multiply-adds. Two units with a latency of
// four cycles need 8 independent accumulators; 12 and the two factors also fit in 16 registers.
std::int64_t operations_per_round() {
  return std::int64_t{2 * 12} * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
}

// Each accumulator is x <- x * a + b, a dependency chain; a and b are volatile, so nothing is
// constant-folded. Not an array, as vectors without a compile-time size cannot be elements.
float chains(std::int64_t rounds, float a0, float b0) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, a0), b = hn::Set(d, b0);
  auto x0 = hn::Iota(d, 0), x1 = hn::Iota(d, 1), x2 = hn::Iota(d, 2), x3 = hn::Iota(d, 3);
  auto x4 = hn::Iota(d, 4), x5 = hn::Iota(d, 5), x6 = hn::Iota(d, 6), x7 = hn::Iota(d, 7);
  auto x8 = hn::Iota(d, 8), x9 = hn::Iota(d, 9), x10 = hn::Iota(d, 10), x11 = hn::Iota(d, 11);
  for (; rounds > 0; --rounds) {
    x0 = hn::MulAdd(x0, a, b);
    x1 = hn::MulAdd(x1, a, b);
    x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b);
    x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b);
    x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b);
    x10 = hn::MulAdd(x10, a, b);
    x11 = hn::MulAdd(x11, a, b);
  }
  x0 = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), x6));
  x7 = hn::Add(hn::Add(hn::Add(x7, x8), hn::Add(x9, x10)), x11);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(x0, x7)));
}

// Eight independent accumulators hide the latency of additions.
float sum(const float* HWY_RESTRICT x, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i + 8 * lanes <= n; i += 8 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
    s4 = hn::Add(s4, hn::LoadU(d, x + i + 4 * lanes));
    s5 = hn::Add(s5, hn::LoadU(d, x + i + 5 * lanes));
    s6 = hn::Add(s6, hn::LoadU(d, x + i + 6 * lanes));
    s7 = hn::Add(s7, hn::LoadU(d, x + i + 7 * lanes));
  }
  s0 = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  s4 = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s4)));
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

namespace {

// The median of N samples of work per second. seconds(n) does `work` n times; a sample does it as
// often as takes at least `least` seconds.
template <std::size_t N, class F>
double median_rate(double work, double least, F seconds) {
  std::int64_t n = 1;
  while (seconds(n) < least) n *= 2;
  std::array<double, N> samples;
  for (double& sample : samples) sample = static_cast<double>(n) * work / seconds(n);
  const auto middle = samples.begin() + N / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

double peak_flops(timer now) noexcept {
  const auto seconds = [&](std::int64_t rounds) {
    // The fixed point of x * a + b is 1, so that nothing overflows or becomes denormal.
    volatile float a = 0.75F, b = 0.25F;
    const double begin = now();
    volatile float keep = WEFT_OF_BEST_TARGET(chains)(rounds, a, b);
    static_cast<void>(keep);
    return now() - begin;
  };
  const auto each = static_cast<double>(WEFT_OF_BEST_TARGET(operations_per_round)());
  return median_rate<5>(each, 0.25e-3, seconds);
}

double read_bandwidth(const float* data, std::size_t n, timer now) noexcept {
  const auto seconds = [&](std::int64_t passes) {
    const double begin = now();
    for (; passes > 0; --passes) {
      volatile float keep = WEFT_OF_BEST_TARGET(sum)(data, n);
      static_cast<void>(keep);
    }
    return now() - begin;
  };
  return median_rate<7>(static_cast<double>(n * sizeof(float)), 20e-6, seconds);
}

}  // namespace weft::kernels
#endif
