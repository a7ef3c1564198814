// A team of threads that executes stages of work together, each stage in partitions.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "weft/kernels/call.hpp"
#include "weft/run/executor.hpp"

namespace weft {

// The executor is called once for all stages; between two of them the threads meet at a spinning
// barrier, as a stage may be shorter than a system call. No thread waits for one that has not
// started: partitions are claimed dynamically, so the calling thread starts at once, and would do
// all the work if the others never came.
//
// Cores differ in speed: small cores beside large ones, other processes come and go. Where each
// thread has one partition, their sizes are proportional to the threads' speeds in earlier stages.
class team {
 public:
  struct ignore_stage {
    void operator()(int) const noexcept {}
  };
  // Returns microseconds; only differences of times on the same thread are used.
  using clock = double (*)() noexcept;
  static double wall_clock() noexcept;

  // Calls the executor once, so that its threads exist before the first run.
  explicit team(executor threads, clock now = wall_clock);

  int size() const noexcept { return threads_.width(); }
  const executor& threads() const noexcept { return threads_; }

  // Calls work(stage, part, member) for each stage in [0, stages) and each of its parts(stage)
  // partitions. A stage begins when the one before it is complete. `member` is a thread index in
  // [0, size()), and no two threads have the same at once. Calls complete(stage) in between, by the
  // thread that did the last of the stage's work.
  template <class Parts, class Work, class Complete = ignore_stage>
  void go(int stages, Parts parts, Work work, Complete complete = {}) noexcept {
    if (stages == 0) return;
    begin(parts(0));
    auto const follow = [&](int member) noexcept {
      for (int stage = now(); stage < stages; stage = wait_beyond(stage)) {
        int const count = parts(stage);
        for (int i = 0; i < count; ++i) {
          // For data locality, a thread prefers the partition with its own index.
          int const part = (member + i) % count;
          if (!take(stage, part)) continue;
          if (count < size()) {
            work(stage, kernels::partition(part, count), member);
          } else {
            double const start = clock_();
            work(stage, share_of(part), member);
            record(part, member, clock_() - start);
          }
          if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
          if (count == size()) balance();
          complete(stage);
          proceed(stage + 1, stage + 1 < stages ? parts(stage + 1) : 0);
        }
      }
    };
    threads_(size(), job(follow));
  }

 private:
  // The state of one partition, on cache lines of its own against false sharing.
  struct alignas(64) place {
    std::atomic<int> taken = 0;  // 1 + the last stage in which it was claimed
    int member = 0;              // the last thread that executed it
    double microseconds = 0;     // its last duration
  };

  void begin(int parts) noexcept;
  int now() const noexcept { return stage_.load(std::memory_order_acquire); }
  int wait_beyond(int stage) const noexcept;
  bool take(int stage, int part) noexcept;
  void proceed(int stage, int parts) noexcept {
    left_.store(parts, std::memory_order_relaxed);
    stage_.store(stage, std::memory_order_release);
  }

  kernels::partition share_of(int part) const noexcept {
    auto const p = static_cast<std::size_t>(part);
    return {part, size(), cuts_[p], cuts_[p + 1]};
  }
  void record(int part, int member, double microseconds) noexcept;
  // Resizes the partitions of later stages by the durations of this one. Called only by the thread
  // that completed the stage.
  void balance() noexcept;

  executor threads_;
  clock clock_;
  std::unique_ptr<place[]> places_;         // of each partition
  std::vector<double> widths_;              // of the partitions; their sum is 1
  std::vector<std::ptrdiff_t> cuts_;        // their boundaries, in units of kernels::partition
  alignas(64) std::atomic<int> stage_ = 0;  // the current stage
  alignas(64) std::atomic<int> left_ = 0;   // its partitions that are not complete
};

}  // namespace weft
