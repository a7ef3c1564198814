// A team of threads that executes stages of work together, each stage in partitions.
#pragma once
#include "weft/header_begin.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/kernels/call.hpp"
#include "weft/run/denormals.hpp"
#include "weft/run/executor.hpp"
#include "weft/run/rounding.hpp"

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

  // Calls work(stage, part, thread_index) for each stage in [0, stages) and each of its
  // parts(stage) partitions. A stage begins when the one before it is complete. `thread_index` is
  // in [0, size()), and no two threads have the same at once. Calls complete(stage) in between, by
  // the thread that did the last of the stage's work.
  template <class Parts, class Work, class Complete = ignore_stage>
  void run(int stages, Parts parts, Work work, Complete complete = {}) noexcept {
    if (stages == 0) return;
    begin(parts(0));
    const std::uint64_t control = flush_denormals::control();
    const auto run_thread = [&](int thread_index) noexcept {
      const detail::rounding_to_nearest mode;
      const flush_denormals as_caller(control);
      for (int stage = now(); stage < stages; stage = wait_beyond(stage)) {
        const int count = parts(stage);
        for (int i = 0; i < count; ++i) {
          // For data locality, a thread prefers the partition with its own index.
          const int part = (thread_index + i) % count;
          if (!claim(stage, part)) continue;
          if (count < size()) {
            work(stage, kernels::partition(part, count), thread_index);
          } else {
            const double start = clock_();
            work(stage, partition_of(part), thread_index);
            record(part, thread_index, clock_() - start);
          }
          if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
          if (count == size()) rebalance();
          complete(stage);
          advance(stage + 1, stage + 1 < stages ? parts(stage + 1) : 0);
        }
      }
    };
    threads_(size(), job(run_thread));
  }

 private:
  // The state of one partition, on cache lines of its own against false sharing.
  struct alignas(64) partition_state {
    std::atomic<int> claimed = 0;  // 1 + the last stage in which it was claimed
    int thread_index = 0;          // the last thread that executed it
    double microseconds = 0;       // its last duration
  };

  void begin(int parts) noexcept;
  int now() const noexcept { return stage_.load(std::memory_order_acquire); }
  int wait_beyond(int stage) const noexcept;
  bool claim(int stage, int part) noexcept;
  void advance(int stage, int parts) noexcept {
    left_.store(parts, std::memory_order_relaxed);
    stage_.store(stage, std::memory_order_release);
  }

  kernels::partition partition_of(int part) const noexcept {
    const auto p = static_cast<std::size_t>(part);
    return {part, size(), boundaries_[p], boundaries_[p + 1]};
  }
  void record(int part, int thread_index, double microseconds) noexcept;
  // Resizes the partitions of later stages by the durations of this one. Called only by the thread
  // that completed the stage.
  void rebalance() noexcept;

  executor threads_;
  clock clock_;
  std::unique_ptr<partition_state[]> states_;  // of each partition
  std::vector<double> widths_;                 // of the partitions; their sum is 1
  std::vector<std::ptrdiff_t> boundaries_;     // their boundaries, in units of kernels::partition
  alignas(64) std::atomic<int> stage_ = 0;     // the current stage
  alignas(64) std::atomic<int> left_ = 0;      // its partitions that are not complete
};

}  // namespace weft
#include "weft/header_end.hpp"
