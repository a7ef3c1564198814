#include "weft/run/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#if defined(__linux__) || defined(__APPLE__)
#include <sys/mman.h>
#define WEFT_LOCKS_PAGES
#endif

#include "weft/run/error.hpp"

namespace weft {

namespace {

constexpr std::size_t huge_page = 2 << 20;

}  // namespace

aligned_bytes allocate(std::size_t bytes, pages kind) {
  const std::size_t size = std::max(align(bytes), alignment);
  const bool huge = kind == pages::huge && size >= 2 * huge_page;
  const std::size_t unit = huge ? huge_page : alignment;
  // calloc knows that pages fresh from the system are zeros, and does not touch them.
  if (size > SIZE_MAX - unit) detail::raise_bad_alloc();
  std::size_t room = size + unit;
  void* const start = std::calloc(room, 1);
  if (start == nullptr) detail::raise_bad_alloc();
  void* p = start;
  std::align(unit, size, p, room);
#ifdef MADV_HUGEPAGE
  if (huge) madvise(p, size, MADV_HUGEPAGE);  // a hint, which may fail without harm
#endif
  return {static_cast<std::byte*>(p), {start}};
}

std::byte* checked(std::span<std::byte> memory, std::size_t bytes) {
  if (memory.size() < bytes || reinterpret_cast<std::uintptr_t>(memory.data()) % alignment != 0)
    detail::raise("memory: " + std::to_string(memory.size()) + " bytes at " +
                  std::to_string(reinterpret_cast<std::uintptr_t>(memory.data()) % alignment) +
                  " beyond a multiple of " + std::to_string(alignment) + "; " +
                  std::to_string(bytes) + " are needed, aligned to " + std::to_string(alignment));
  return memory.data();
}

void load_pages(std::span<const std::byte> bytes, bool locks) {
  if (bytes.empty()) return;
  const volatile std::byte* const begin = bytes.data();
  constexpr std::size_t page = 4096;  // the smallest of the systems that weft runs on
  for (std::size_t i = 0; i < bytes.size(); i += page) static_cast<void>(begin[i]);
  static_cast<void>(begin[bytes.size() - 1]);
  if (!locks) return;
#ifdef WEFT_LOCKS_PAGES
  if (mlock(bytes.data(), bytes.size()) == 0) return;
#endif
  detail::raise(
      "lock: the system does not keep " + std::to_string(bytes.size()) +
      " bytes more in memory; raise the limit, by ulimit -l or LimitMEMLOCK=, or give the "
      "program CAP_IPC_LOCK");
}

}  // namespace weft
