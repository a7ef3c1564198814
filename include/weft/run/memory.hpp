// Aligned memory for a program's blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "weft/passes/plan.hpp"

namespace weft {

struct aligned_delete {
  std::align_val_t aligned_to{alignment};
  void operator()(std::byte* p) const noexcept { ::operator delete(p, aligned_to); }
};
using aligned_bytes = std::unique_ptr<std::byte[], aligned_delete>;

// Zeros, aligned to 64 bytes; at least one byte. Large blocks lie in huge pages where the system
// has them to give.
aligned_bytes allocate(std::size_t bytes);

// The caller's memory, if it has as many bytes and is aligned to 64; else throws weft::error.
std::byte* checked(std::span<std::byte> memory, std::size_t bytes);

}  // namespace weft
