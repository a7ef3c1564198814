// Memory for the operands of a kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "weft/run/memory.hpp"

namespace bench {

// Copies share it.
class operand_memory {
 public:
  // Each behind a page's begin by some lines more than the one before: a load that lies a little
  // behind an earlier store, but for the page, waits for it, and where an allocator puts memory is
  // chance.
  std::byte* take(std::size_t size) {
    constexpr std::size_t page = 4096, apart = 9 * 64;
    const std::size_t offset = all_.size() * apart % page;
    std::size_t room = size + 2 * page;
    all_.emplace_back(weft::allocate(room));
    void* at = all_.back().get();
    return static_cast<std::byte*>(std::align(page, size + page, at, room)) + offset;
  }

 private:
  std::vector<std::shared_ptr<std::byte[]>> all_;
};

}  // namespace bench
