// Aligned memory for a program's parameters and workspace.
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

// Allocates zeros, aligned to 64 bytes; at least one byte. Large blocks are in huge pages where the
// system provides them. Throws std::bad_alloc.
aligned_bytes allocate(std::size_t bytes);

// Returns the address of the caller's memory. Throws weft::error where it has fewer than `bytes`
// bytes or is not aligned to 64.
std::byte* checked(std::span<std::byte> memory, std::size_t bytes);

}  // namespace weft
