// What the fuzzing targets make of libFuzzer's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using bytes = std::span<const std::uint8_t>;

// What must hold; libFuzzer keeps the input of a process that aborts.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

// A file of tensors: as it is, or, where the first byte is a space, from a header up to the first
// zero byte and the data behind that; its length, which chance does not find, stands before it.
std::vector<std::byte> tensor_file(bytes input);

// A file in memory with these bytes, until the next call.
std::filesystem::path file_of(std::span<const std::byte> content);

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
