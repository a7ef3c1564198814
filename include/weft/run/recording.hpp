// The times of an engine's last runs, instruction by instruction: what a weft::profile reads.
#pragma once
#include "weft/header_begin.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/lower/program.hpp"
#include "weft/run/executor.hpp"

namespace weft {

// Keeps the last `capacity` runs of a program on one engine; see engine::record. To record a run
// allocates nothing. All times are in nanoseconds.
class recording {
 public:
  struct phases {
    std::int64_t run;        // all instructions, and the start and end of the threads
    std::int64_t binding;    // before it: checks of the arguments, and copies of strided ones
    std::int64_t optimizer;  // after it: the update of the parameters
  };

  // Throws weft::error if capacity is 0.
  recording(const program& p, std::size_t capacity);

  // The number of runs that are kept. They are in no particular order.
  std::size_t size() const noexcept { return count_ < phases_.size() ? count_ : phases_.size(); }
  const phases& phases_of(std::size_t run) const { return phases_[run]; }
  // The times of the instructions that are not invariant, in order; that of one in a scan includes
  // all its steps. Together they are at most phases::run.
  std::span<const std::int64_t> instructions_of(std::size_t run) const {
    return {instructions_.data() + run * stride_, stride_};
  }
  // The length of each of the program's slots.
  std::span<const std::size_t> lengths_of(std::size_t run) const {
    return {lengths_.data() + run * slots_, slots_};
  }
  // The threads of the latest run.
  const executor& threads() const noexcept { return threads_; }

  // What follows is called by the engine and the trainer. Only differences of times are used.
  static std::int64_t now() noexcept;
  void run_on(const executor& threads) { threads_ = threads; }
  void bound(std::int64_t time) noexcept { binding_ = time; }
  // Begins a run, in place of the oldest if there is no room.
  void begin(const std::size_t* lengths) noexcept;
  // The calling thread begins to execute the first instruction; others may have begun.
  void begin_instructions() noexcept {
    std::int64_t none = 0;
    if (last_.load(std::memory_order_relaxed) != none) return;
    last_.compare_exchange_strong(none, now(), std::memory_order_relaxed);
  }
  // An instruction has been completed by all threads; called before any of them begins the next.
  void complete(int instruction) noexcept {
    const std::int64_t time = now();
    instructions_[at_ * stride_ + static_cast<std::size_t>(instruction - once_)] +=
        time - last_.load(std::memory_order_relaxed);
    last_.store(time, std::memory_order_relaxed);
  }
  // What was done since the last instruction is part of none.
  void leave_out() noexcept { last_.store(now(), std::memory_order_relaxed); }
  void end() noexcept { phases_[at_].run = now() - begin_; }
  void updated(std::int64_t time) noexcept { phases_[at_].optimizer += time; }

 private:
  int once_;            // the index of the first instruction that is recorded
  std::size_t stride_;  // the number of them
  std::size_t slots_;
  std::vector<phases> phases_;
  std::vector<std::int64_t> instructions_;
  std::vector<std::size_t> lengths_;
  executor threads_;
  std::size_t count_ = 0;  // of runs that were begun
  std::size_t at_ = 0;     // where the latest is kept
  std::int64_t binding_ = 0;
  std::int64_t begin_ = 0;
  // When the latest instruction was completed; 0: the first has not begun. Threads meet at a
  // barrier between instructions, so only the first value is contended.
  std::atomic<std::int64_t> last_ = 0;
};

}  // namespace weft
#include "weft/header_end.hpp"
