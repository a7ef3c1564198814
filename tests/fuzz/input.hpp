// Turns libFuzzer's bytes into input for the readers.
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

// Aborts unless `holds`, upon which libFuzzer saves the input.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

// Returns the content of a file of tensors. Input that begins with a space is a header, a zero byte
// and the data; the header's length, which mutations would hardly ever get right, is put before it.
// All other input is returned unchanged.
std::vector<std::byte> tensor_file(bytes input);

// Returns the path of a file in memory with this content. The next call overwrites the file.
std::filesystem::path file_of(std::span<const std::byte> content);

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
