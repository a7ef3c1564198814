#include "benchmarks/bandwidth.hpp"

#include <algorithm>
#include <array>

#include "benchmarks/contender.hpp"
#include "benchmarks/floats.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/bandwidth.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

HWY_EXPORT(sum);

double read_bandwidth(std::size_t bytes) {
  static floats data;
  if (data.size() != bytes / sizeof(float)) data = floats(bytes / sizeof(float), 1);
  const auto read = timed(1, [] {
    volatile float keep = HWY_DYNAMIC_DISPATCH(sum)(data.data(), data.size());
    static_cast<void>(keep);
  });
  read(1);
  std::array<double, 7> samples;
  for (double& sample : samples) sample = static_cast<double>(bytes) / read(1);
  std::ranges::nth_element(samples, samples.begin() + samples.size() / 2);
  return samples[samples.size() / 2];
}

}  // namespace bench
#endif
