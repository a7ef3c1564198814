// Threads that go through stages of work together, each stage in parts.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "weft/kernels/call.hpp"
#include "weft/run/executor.hpp"

namespace weft {

// The executor is asked once for all stages: between two of them the threads wait for each other by
// spinning, as a stage may be shorter than a system call. No thread is waited for that has not
// begun: parts are taken by whoever is there, so the calling thread starts at once, and would do
// all of it if the others never came.
//
// Cores differ in speed: small ones sit beside large ones, others' work comes and goes. Where each
// member has a part, the parts are as large as the members were fast in the stages before.
class team {
 public:
  // In microseconds; a thread compares its own times alone.
  using clock = double (*)() noexcept;
  static double wall_clock() noexcept;

  // Asks the executor for once, so that the threads are there before the first run.
  explicit team(executor threads, clock now = wall_clock);

  int size() const noexcept { return threads_.width(); }

  // Calls work(stage, part, member) for each stage in [0, stages) and each of its parts(stage)
  // parts. A stage begins when the one before it is done. `member` is in [0, size()), and no two
  // threads have the same at once.
  template <class Parts, class Work>
  void go(int stages, Parts parts, Work work) noexcept {
    if (stages == 0) return;
    begin(parts(0));
    auto const follow = [&](int member) noexcept {
      for (int stage = now(); stage < stages; stage = wait_beyond(stage)) {
        int const count = parts(stage);
        for (int i = 0; i < count; ++i) {
          // The same member does the same part of each stage if it can: it has the data at hand.
          int const part = (member + i) % count;
          if (!take(stage, part)) continue;
          if (count < size()) {
            work(stage, kernels::share(part, count), member);
          } else {
            double const start = clock_();
            work(stage, share_of(part), member);
            record(part, member, clock_() - start);
          }
          if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
          if (count == size()) balance();
          proceed(stage + 1, stage + 1 < stages ? parts(stage + 1) : 0);
        }
      }
    };
    threads_(size(), job(follow));
  }

 private:
  // A part of the stages, in lines of cache of its own, as other threads write the one beside it.
  struct alignas(64) place {
    std::atomic<int> taken = 0;  // the stages that it was taken in
    int member = 0;              // that did it last
    double microseconds = 0;     // that it took last
  };

  void begin(int parts) noexcept;
  int now() const noexcept { return stage_.load(std::memory_order_acquire); }
  int wait_beyond(int stage) const noexcept;
  bool take(int stage, int part) noexcept;
  void proceed(int stage, int parts) noexcept {
    left_.store(parts, std::memory_order_relaxed);
    stage_.store(stage, std::memory_order_release);
  }

  kernels::share share_of(int part) const noexcept {
    auto const p = static_cast<std::size_t>(part);
    return {part, size(), cuts_[p], cuts_[p + 1]};
  }
  void record(int part, int member, double microseconds) noexcept;
  // Cuts the next stages by how long the parts of this one took. By who ended it, alone.
  void balance() noexcept;

  executor threads_;
  clock clock_;
  std::unique_ptr<place[]> places_;         // for each part
  std::vector<double> widths_;              // of the members' parts, together 1
  std::vector<std::ptrdiff_t> cuts_;        // between them, as shares have them
  alignas(64) std::atomic<int> stage_ = 0;  // that is being worked on
  alignas(64) std::atomic<int> left_ = 0;   // its parts that are not done
};

}  // namespace weft
