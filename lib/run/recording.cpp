#include "weft/run/recording.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "weft/run/error.hpp"

namespace weft {

recording::recording(const program& p, std::size_t capacity)
    : once_(p.once),
      stride_(p.instructions.size() - static_cast<std::size_t>(p.once)),
      slots_(p.lengths.size()),
      phases_(capacity),
      instructions_(capacity * stride_),
      lengths_(capacity * slots_) {
  if (capacity == 0) detail::raise("profile: it has to keep at least one run");
}

std::int64_t recording::now() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void recording::begin(const std::size_t* lengths) noexcept {
  at_ = count_++ % phases_.size();
  phases_[at_] = {0, std::exchange(binding_, 0), 0};
  std::fill_n(instructions_.begin() + static_cast<std::ptrdiff_t>(at_ * stride_), stride_, 0);
  std::copy_n(lengths, slots_, lengths_.begin() + static_cast<std::ptrdiff_t>(at_ * slots_));
  last_.store(0, std::memory_order_relaxed);
  begin_ = now();
}

}  // namespace weft
