#include "weft/run/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "weft/run/error.hpp"

namespace weft {

aligned_bytes allocate(std::size_t bytes) {
  std::size_t const size = std::max(align(bytes), alignment);
  auto* const p = static_cast<std::byte*>(::operator new (size, std::align_val_t{alignment}));
  std::memset(p, 0, size);
  return aligned_bytes(p);
}

std::byte* checked(std::span<std::byte> memory, std::size_t bytes) {
  if (memory.size() < bytes || reinterpret_cast<std::uintptr_t>(memory.data()) % alignment != 0)
    throw error("memory: " + std::to_string(memory.size()) + " bytes at " +
                std::to_string(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment) +
                " beyond a multiple of " + std::to_string(alignment) + "; " +
                std::to_string(bytes) + " are needed, aligned to " + std::to_string(alignment));
  return memory.data();
}

}  // namespace weft
