// What the cases share: how they are timed and counted, and data to work on.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>

#include "benchmarks/peak.hpp"
#include "weft/run/memory.hpp"

namespace bench {

// The counters' names.
inline constexpr char rate[] = "FLOP/s";
inline constexpr char share[] = "share_of_peak";  // FLOP/s by the core's peak beside the case
inline constexpr char per_element[] = "s/element";

// Times f, which does so many floating-point operations.
template <class F>
void time_operations(benchmark::State& state, double operations, F f) {
  using benchmark::Counter;
  const double before = peak();
  for (auto _ : state) f();
  const double both = (before + peak()) / 2;
  state.counters[rate] = Counter(operations, Counter::kIsIterationInvariantRate);
  state.counters[share] = Counter(operations / both, Counter::kIsIterationInvariantRate);
}

// Times f, which goes over so many elements.
template <class F>
void time_elements(benchmark::State& state, std::size_t elements, F f) {
  using benchmark::Counter;
  for (auto _ : state) f();
  state.counters[per_element] =
      Counter(static_cast<double>(elements), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

// Floats in [-1, 1), the same in every run, aligned as in a model's workspace.
class floats {
 public:
  explicit floats(std::size_t n);
  float* data() { return reinterpret_cast<float*>(bytes_.get()); }

 private:
  weft::aligned_bytes bytes_;
};

}  // namespace bench
