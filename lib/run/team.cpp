#include "weft/run/team.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "threading.hpp"
#include "weft/run/error.hpp"

namespace weft {

executor::executor(int width, std::function<void(int n, job f)> run)
    : width_(width), run_(std::move(run)) {
  if (width < 1)
    detail::raise("executor: " + std::to_string(width) + " threads, and at least 1 is needed");
  if (!run_) detail::raise("executor: without a function that runs");
}

double team::wall_clock() noexcept {
  using std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

team::team(executor threads, clock now)
    : threads_(std::move(threads)),
      clock_(now),
      states_(new partition_state[static_cast<std::size_t>(size())]),
      widths_(static_cast<std::size_t>(size()), 1.0 / size()) {
  for (int p = 0; p < size(); ++p) boundaries_.push_back(kernels::partition(p, size()).begin);
  boundaries_.push_back(kernels::partition::full);
  threads_(size(), job([](int) {}));
}

void team::begin(int parts) noexcept {
  for (int p = 0; p < size(); ++p) states_[static_cast<std::size_t>(p)].claimed = 0;
  advance(0, parts);
}

// Stage numbers only increase, so a stage that is complete is never confused with a later one.
bool team::claim(int stage, int part) noexcept {
  std::atomic<int>& claimed = states_[static_cast<std::size_t>(part)].claimed;
  int before = claimed.load(std::memory_order_relaxed);
  return before <= stage &&
         claimed.compare_exchange_strong(before, stage + 1, std::memory_order_relaxed);
}

void team::record(int part, int thread_index, double microseconds) noexcept {
  partition_state& p = states_[static_cast<std::size_t>(part)];
  p.thread_index = thread_index;
  p.microseconds = microseconds;
}

void team::rebalance() noexcept {
  constexpr double empty = 0.5;      // microseconds; a partition below has no work
  constexpr double least = 5;        // microseconds; shorter stages say nothing about speed
  constexpr double memory = 1500;    // microseconds; time constant of the moving average
  constexpr double most = 4;         // ratio of durations; above it, a thread was preempted
  constexpr double equality = 0.02;  // pull towards equal sizes, against drift by noise alone
  const auto n = static_cast<std::size_t>(size());
  double longest = 0, shortest = HUGE_VAL, total_speed = 0;
  for (std::size_t p = 0; p < n; ++p) {
    if (states_[p].thread_index != static_cast<int>(p)) return;
    longest = std::max(longest, states_[p].microseconds);
    shortest = std::min(shortest, states_[p].microseconds);
  }
  if (shortest < empty || longest < least) return;
  longest = std::min(longest, most * shortest);
  const auto speed_of = [&](std::size_t p) {
    return widths_[p] / std::min(states_[p].microseconds, longest);
  };
  for (std::size_t p = 0; p < n; ++p) total_speed += speed_of(p);
  const double trust = longest / (longest + memory);
  double at = 0;
  for (std::size_t p = 0; p < n; ++p) {
    const double speed = speed_of(p) / total_speed;
    const double wanted = speed + equality * (1.0 / size() - speed);
    widths_[p] += trust * (wanted - widths_[p]);
    boundaries_[p] = std::lround(at * kernels::partition::full);
    at += widths_[p];
  }
}

int team::wait_beyond(int stage) const noexcept {
  // Spins longer than any stage should last; then the system has preempted a thread, which needs
  // the core.
  constexpr int spin_limit = 10000;
  for (int spins = 0;; ++spins) {
    if (const int at = now(); at > stage) return at;
    if (spins < spin_limit)
      hwy::Pause();
    else
      detail::yield();
  }
}

}  // namespace weft
