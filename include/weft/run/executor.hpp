// The threads that a model runs on: the calling one alone, or what an executor has.
#pragma once

#include <functional>

namespace weft {

// What an executor is given: job(i) is the share of one thread. It is small, may be copied, throws
// nothing, and lives until the executor returns.
class job {
 public:
  // Refers to f, which outlives it.
  template <class F>
  explicit job(const F& f)
      : of_(&f), call_([](const void* of, int i) noexcept { (*static_cast<const F*>(of))(i); }) {}
  void operator()(int i) const noexcept { call_(of_, i); }

 private:
  const void* of_;
  void (*call_)(const void* of, int i) noexcept;
};

// Threads to run on: weft::threads(n) of weft/run/threads.hpp, or an embedder's own,
//
//   weft::executor mine(4, [&pool](int n, weft::job f) { pool.for_each_index(0, n, f); });
//   net.run_on(mine);
//
// The function calls f(0) to f(n - 1), once each, and returns when all have returned; n is at most
// the width. They may run at the same time or one after another, in any order, on any threads: the
// results are the same bits, and whoever comes first begins. A thread that comes while others are
// at work waits by spinning, so there should not be more of them than cores. A thread that was
// faster gets more of the work, which is best known where f(i) comes to the same thread each time.
// The function must not throw.
//
// An executor is a value; its copies share what the function refers to, which has to live as long
// as any of them, and may be used by several modules at the same time if the function may.
class executor {
 public:
  executor() = default;  // the calling thread alone
  // Throws weft::error for less than one thread.
  executor(int width, std::function<void(int n, job f)> run);

  int width() const noexcept { return width_; }
  void operator()(int n, job f) const noexcept { run_(n, f); }

 private:
  int width_ = 1;
  std::function<void(int n, job f)> run_ = [](int n, job f) {
    for (int i = 0; i < n; ++i) f(i);
  };
};

}  // namespace weft
