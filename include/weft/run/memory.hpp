// Aligned memory for a program's blocks.
#pragma once

#include <boost/align/aligned_alloc.hpp>
#include <cstddef>
#include <memory>
#include <span>

#include "weft/passes/plan.hpp"

namespace weft {

struct aligned_delete {
  void operator()(std::byte* p) const noexcept { boost::alignment::aligned_free(p); }
};
using aligned_bytes = std::unique_ptr<std::byte[], aligned_delete>;

// Zeros, aligned to 64 bytes; at least one byte. Large blocks lie in huge pages where the system
// has them to give. Throws std::bad_alloc.
aligned_bytes allocate(std::size_t bytes);

// The caller's memory, if it has as many bytes and is aligned to 64; else throws weft::error.
std::byte* checked(std::span<std::byte> memory, std::size_t bytes);

}  // namespace weft
