#include "benchmarks/peak.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "benchmarks/contender.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/peak.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

const char* name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

HWY_EXPORT(operations_per_round);
HWY_EXPORT(chains);
HWY_EXPORT(name);

namespace {

double seconds(std::int64_t rounds) {
  // The fixed point of x * a + b is 1, so that nothing overflows or becomes denormal.
  static volatile float a = 0.75F, b = 0.25F;
  const stopwatch watch(1);
  volatile float keep = HWY_DYNAMIC_DISPATCH(chains)(rounds, a, b);
  static_cast<void>(keep);
  return watch.seconds();
}

// The number of iterations that takes a quarter of a millisecond.
std::int64_t rounds_per_sample() {
  std::int64_t rounds = 1024;
  while (seconds(rounds) < 0.25e-3) rounds *= 2;
  return rounds;
}

}  // namespace

double peak() {
  const std::int64_t rounds = rounds_per_sample();
  const auto operations = static_cast<double>(rounds) *
                          static_cast<double>(HWY_DYNAMIC_DISPATCH(operations_per_round)());
  std::array<double, 5> samples;
  for (double& sample : samples) sample = operations / seconds(rounds);
  std::ranges::nth_element(samples, samples.begin() + samples.size() / 2);
  return samples[samples.size() / 2];
}

const char* target() {
  return HWY_DYNAMIC_DISPATCH(name)();
}

}  // namespace bench
#endif
