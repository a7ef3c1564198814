// Tensors in files, in the safetensors format (https://github.com/huggingface/safetensors#format):
// the length of the header as a uint64, the header in JSON, and the elements of all tensors,
// little-endian and row-major. Link weft::io.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft {

namespace detail {
class byte_source;
}

// The dtype of a tensor in a file: F64, F32, F16, BF16, I64, I32 and BOOL in the format. Tensors
// with the format's other dtypes, `other`, can be in a file, but their elements cannot be read.
enum class stored_type : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  boolean,
  other
};

// A tensor in a file. Its elements are read from the file on demand.
struct stored_tensor {
  std::string name;                                   // unique in the file
  stored_type type;                                   // of its elements
  std::string type_name;                              // the format's name, such as "F32"
  std::vector<std::size_t> shape;                     // the extents, outermost first
  std::size_t offset;                                 // of its first byte in the file, in bytes
  std::size_t bytes;                                  // of all elements
  std::shared_ptr<const detail::byte_source> source;  // the file, which it keeps open

  // The number of elements: the product of the shape.
  std::size_t size() const;
  // The type and shape as text: "F32 [2, 3]".
  std::string description() const;

  // Reads the elements, in row-major order, as T: float, from any floating-point type, rounded to
  // nearest; std::int32_t or std::int64_t, from I32 and I64; bool, from BOOL; double, from all of
  // these. Throws weft::error where the type is another one, a value does not fit into int32,
  // `into` does not have size() elements, or the file cannot be read or was written to since it was
  // opened.
  template <class T>
  void read(std::span<T> into) const;
  // The elements, in row-major order, as T: see read. Not as bool.
  template <class T>
  requires(!std::same_as<T, bool>)  // a vector<bool> does not hold bools
      std::vector<T> values()
  const;
};

// A safetensors file whose header is in memory. It stays open while a copy, or one of its tensors,
// exists.
class tensor_file {
 public:
  // Opens a file, reads its header and checks each tensor's type, shape and offsets. Throws
  // weft::error where the file cannot be read or is not valid.
  explicit tensor_file(const std::filesystem::path& path);
  // The same from the content of a file; `name` stands for it in error messages.
  tensor_file(std::vector<std::byte> bytes, std::string name);

  // The path, or the name given.
  const std::string& name() const { return name_; }
  // Sorted by name.
  const std::vector<stored_tensor>& tensors() const { return tensors_; }
  // The tensor with this name; null where there is none.
  const stored_tensor* find(std::string_view name) const;
  // The tensor with this name. Throws weft::error where there is none.
  const stored_tensor& operator[](std::string_view name) const;
  // The header's "__metadata__"; empty where it has none.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  explicit tensor_file(std::shared_ptr<const detail::byte_source> source);

  std::string name_;
  std::vector<stored_tensor> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

// A tensor to write; it refers to its values, row-major, which must live until then. Floats are
// stored in any floating-point type, rounded to nearest, ties to even; bool as BOOL; int32 as I32
// or I64.
struct tensor_to_store {
  std::string name;                // unique in the file
  std::vector<std::size_t> shape;  // the extents, outermost first
  // The elements, as many as the product of the extents.
  std::variant<std::span<const float>, std::span<const std::int32_t>, std::span<const bool>> values;
  stored_type type;  // in the file
};

// Writes a file. It replaces an older one atomically when it is complete and on the disk; where
// anything goes wrong, the older one stays. While it is written it is NAME.NUMBER.partial in the
// same folder; one that a killed process has left is removed when NAME is written next. Throws
// weft::error where it cannot be written, two names are equal, a shape does not match the number of
// values, or the values cannot be stored as the type.
void write_tensors(const std::filesystem::path& path, const std::vector<tensor_to_store>& tensors,
                   const std::map<std::string, std::string, std::less<>>& metadata = {});

}  // namespace weft
