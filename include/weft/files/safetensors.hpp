// Writing tensors in the safetensors format (https://github.com/huggingface/safetensors#format):
// the length of the header as a uint64, the header in JSON, and the elements of all tensors,
// little-endian and row-major. Link weft::files.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "weft/bfloat16.hpp"
#include "weft/files/tensor_file.hpp"

namespace weft {

// A tensor to save; it refers to its values, row-major, which must live until then. Floats are
// stored in any floating-point type, rounded to nearest, ties to even; bool as BOOL; int32 as I32
// or I64; bfloat16 as BF16; bytes as U8, aligned to 64 bytes in the file if they are a multiple of
// that.
struct tensor_to_store {
  std::string name;                // unique in the file
  std::vector<std::size_t> shape;  // the extents, outermost first
  // The elements, as many as the product of the extents.
  std::variant<std::span<const float>, std::span<const std::int32_t>, std::span<const bool>,
               std::span<const std::byte>, std::span<const bfloat16>>
      values;
  stored_type type;  // in the file
};

// Saves a file. It replaces an older one atomically when it is complete and on the disk; where
// anything goes wrong, the older one stays. While it is written it is NAME.NUMBER.partial in the
// same folder; one that a killed process has left is removed when NAME is written next. Throws
// weft::error where it cannot be written, two names are equal, a shape does not match the number of
// values, or the values cannot be stored as the type.
void save_tensors(const std::vector<tensor_to_store>& tensors, const std::filesystem::path& path,
                  const std::map<std::string, std::string, std::less<>>& metadata = {});
// The content of such a file, for systems without files, and to send. Throws weft::error as above.
std::vector<std::byte> saved_tensors(
    const std::vector<tensor_to_store>& tensors,
    const std::map<std::string, std::string, std::less<>>& metadata = {});

}  // namespace weft
#include "weft/header_end.hpp"
