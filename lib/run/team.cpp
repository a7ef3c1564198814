#include "weft/run/team.hpp"

#include <hwy/cache_control.h>

#include <thread>
#include <utility>

namespace weft {

team::team(executor threads)
    : threads_(std::move(threads)),
      taken_(new counter[static_cast<std::size_t>(threads_.width())]) {
  threads_(size(), job([](int) {}));
}

void team::begin(int parts) noexcept {
  for (int p = 0; p < size(); ++p) taken_[static_cast<std::size_t>(p)].value = 0;
  proceed(0, parts);
}

// Stages are numbered upwards, so one that is over cannot be taken for one that is not.
bool team::take(int stage, int part) noexcept {
  std::atomic<int>& taken = taken_[static_cast<std::size_t>(part)].value;
  int before = taken.load(std::memory_order_relaxed);
  return before <= stage &&
         taken.compare_exchange_strong(before, stage + 1, std::memory_order_relaxed);
}

int team::wait_beyond(int stage) const noexcept {
  // Longer than any stage should last; a thread that the system has taken away wants the core.
  constexpr int patience = 10000;
  for (int spins = 0;; ++spins) {
    if (int const at = now(); at > stage) return at;
    if (spins < patience)
      hwy::Pause();
    else
      std::this_thread::yield();
  }
}

}  // namespace weft
