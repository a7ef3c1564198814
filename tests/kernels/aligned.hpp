// Memory for the scratch of calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "weft/kernels/dot_blocking.hpp"

namespace weft::kernels {

// `bytes`, rounded up to a cache line, so that the address sanitizer catches any access beyond
// them. As floats they are NaN, which shows where a kernel reads what it has not written.
class aligned {
 public:
  explicit aligned(std::size_t bytes)
      : memory_(std::aligned_alloc(64, round_up(bytes, 64)), std::free) {
    std::fill_n(data(), bytes, std::byte{0xff});
  }
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
};

// Scratch of a call, of exactly `bytes`.
template <class Call>
[[nodiscard]] aligned scratch_for(Call& c, std::size_t bytes) {
  aligned memory(bytes);
  c.scratch = memory.data();
  return memory;
}

}  // namespace weft::kernels
