#include "weft/run/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "weft/run/error.hpp"

namespace weft {

namespace {

// With 4 KiB pages, weights of a few MiB exceed the TLB.
constexpr std::size_t huge_page = 2 << 20;

}  // namespace

aligned_bytes allocate(std::size_t bytes) {
  std::size_t const size = std::max(align(bytes), alignment);
  bool const huge = size >= 2 * huge_page;
  std::align_val_t const to{huge ? huge_page : alignment};
  auto* const p = static_cast<std::byte*>(::operator new(size, to));
#ifdef MADV_HUGEPAGE
  if (huge) madvise(p, size, MADV_HUGEPAGE);  // a hint, which may fail without harm
#endif
  std::memset(p, 0, size);
  return aligned_bytes(p, {to});
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
