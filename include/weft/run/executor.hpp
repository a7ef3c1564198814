// Executors: the threads that a model runs on, which is the calling thread alone by default.
#pragma once
#include "weft/header_begin.hpp"

#include <functional>

#include "weft/language.hpp"

namespace weft {

// The function that an executor runs: job(i) does the work of thread i. It is small, copyable and
// noexcept, and refers to state that lives until the executor returns.
class job {
 public:
  // Refers to f, which must outlive the job.
  template <class F>
  explicit job(const F& f)
      : of_(&f), call_([](const void* of, int i) noexcept { (*static_cast<const F*>(of))(i); }) {}
  // Does the work of thread i.
  void operator()(int i) const noexcept { call_(of_, i); }

 private:
  const void* of_;
  void (*call_)(const void* of, int i) noexcept;
};

// Threads to run on: weft::threads(n) of weft/run/threads.hpp, or the caller's own pool.
//
//   weft::executor mine(4, [&pool](int n, weft::job f) { pool.for_each_index(0, n, f); });
//   net.run_on(mine);
//
// The function calls f(0) to f(n - 1), once each, and returns when all have returned; 1 <= n <=
// width. The calls may run concurrently or one after another, in any order, on any threads: the
// results have the same bits, and work starts with the first thread that arrives. Threads wait for
// each other by spinning, so the width should not exceed the number of cores. Faster threads get
// larger partitions, which adapts best where f(i) comes to the same thread each time. The function
// must not throw.
//
// An executor is a value; its copies share the state that the function refers to, which must
// outlive all of them. Several modules may use them at the same time if the function allows that.
class executor {
 public:
  executor() = default;  // the calling thread alone
  // At most `width` threads; see above for `run`. Throws weft::error if width < 1 or run is empty.
  executor(int width, std::function<void(int n, job f)> run);

  // The most threads.
  int width() const noexcept { return width_; }
  // Calls f(0) to f(n - 1), and returns when all have returned; 1 <= n <= width().
  void operator()(int n, job f) const noexcept { run_(n, f); }

 private:
  int width_ = 1;
  std::function<void(int n, job f)> run_ = [](int n, job f) {
    for (int i = 0; i < n; ++i) f(i);
  };
};

}  // namespace weft
#include "weft/header_end.hpp"
