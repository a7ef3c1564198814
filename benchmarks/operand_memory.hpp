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
  // Each buffer starts at a different multiple of 64 bytes modulo the page size: a load whose
  // address modulo 4096 is slightly above that of an earlier store waits for it (4K aliasing), and
  // an allocator's addresses are chance.
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
