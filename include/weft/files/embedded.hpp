// Files that are in the program itself. Link weft::files.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <span>

#include "weft/axes/fixed_string.hpp"

namespace weft {

namespace detail {

// The content of a file. Defined by what weft_embed_weights makes; without it, the link fails and
// the linker names this struct.
template <fixed_string Name>
struct made_by_weft_embed_weights {
  static std::span<std::byte> content() noexcept;
};

}  // namespace detail

// The content of a file that CMake has put into the program, by the file's name, which no other one
// has there, aligned to 64 bytes:
//
//   weft_embed_weights(app weights/llama.packed)                              # CMake
//   weft::tensor_file const file(weft::embedded<"llama.packed">(), "llama.packed");
//   weft::module<llama> net(file, weft::precision::bfloat16);
//
// A page of it takes memory once it is used. Parameters that are float32 in the file, and packed
// weights, are not copied: modules read them where they are, so a change of a parameter is seen by
// all modules that are made from it. A program without that line of CMake does not link.
template <fixed_string Name>
std::span<std::byte> embedded() noexcept {
  return detail::made_by_weft_embed_weights<Name>::content();
}

}  // namespace weft
#include "weft/header_end.hpp"
