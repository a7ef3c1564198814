// One implementation of a case: weft's, or a peer's.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

namespace bench {

struct contender {
  // Executes the work n times; returns the seconds that it took. Empty: does not take part.
  std::function<double(std::int64_t n)> repeat;
  // The result of the latest execution.
  std::function<std::vector<float>()> result;
};

inline double seconds_of(clockid_t clock) noexcept {
  std::timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// One thread is timed by the process's CPU time, which excludes preemption; several threads by the
// monotonic clock.
class stopwatch {
 public:
  explicit stopwatch(int threads)
      : clock_(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID),
        begin_(seconds_of(clock_)) {}
  double seconds() const { return seconds_of(clock_) - begin_; }

 private:
  clockid_t clock_;
  double begin_;
};

// Times f, which executes the work once.
template <class F>
std::function<double(std::int64_t)> timed(int threads, F f) {
  return [threads, f = std::move(f)](std::int64_t n) mutable {
    const stopwatch watch(threads);
    for (; n > 0; --n) {
      f();
      asm volatile("" ::: "memory");  // keeps the compiler from merging iterations
    }
    return watch.seconds();
  };
}

}  // namespace bench
