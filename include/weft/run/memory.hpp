// Aligned memory for a program's parameters and workspace.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "weft/passes/memory_plan.hpp"

namespace weft {

struct free_around {
  void* start = nullptr;  // of the memory that std::calloc gave
  void operator()(std::byte*) const noexcept { std::free(start); }
};
using aligned_bytes = std::unique_ptr<std::byte[], free_around>;

// Which pages the system should provide for a large block: huge ones (of 2 MiB, where it has them)
// for what is read from end to end, as weights are, which with 4 KiB pages exceed the TLB; small
// ones where much of the block may never be used.
enum class pages { huge, small };

// Allocates zeros, aligned to 64 bytes; at least one byte. A page of a large block takes memory
// once it is written to. Throws std::bad_alloc.
aligned_bytes allocate(std::size_t bytes, pages kind = pages::huge);

// Returns the address of the caller's memory. Throws weft::error where it has fewer than `bytes`
// bytes or is not aligned to 64.
std::byte* checked(std::span<std::byte> memory, std::size_t bytes);

// Has the system provide the pages of these bytes and, if `locks`, keep them until they are
// unmapped, by mlock. Throws weft::error where it refuses.
void load_pages(std::span<const std::byte> bytes, bool locks);

}  // namespace weft
#include "weft/header_end.hpp"
