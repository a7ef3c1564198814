// One way to do the work of a case: weft's, or a peer's.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

namespace bench {

struct contender {
  // Does the work n times; gives the seconds that it took. Empty: does not take part.
  std::function<double(std::int64_t n)> repeat;
  // What came out of the latest time.
  std::function<std::vector<float>()> result;
};

// One thread is timed by the processor time of the process, which leaves out when others have the
// core; several threads by the clock on the wall.
class stopwatch {
 public:
  explicit stopwatch(int threads)
      : clock_(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID), begin_(now()) {}
  double seconds() const { return now() - begin_; }

 private:
  double now() const {
    std::timespec t{};
    clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }

  clockid_t clock_;
  double begin_;
};

// f does the work once.
template <class F>
std::function<double(std::int64_t)> timed(int threads, F f) {
  return [threads, f = std::move(f)](std::int64_t n) mutable {
    const stopwatch watch(threads);
    for (; n > 0; --n) {
      f();
      asm volatile("" ::: "memory");  // the next time is not known to be the same work
    }
    return watch.seconds();
  };
}

}  // namespace bench
