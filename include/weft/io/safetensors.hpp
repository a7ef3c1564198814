// Tensors in files, in the format safetensors (https://github.com/huggingface/safetensors#format):
// the length of a header, the header in JSON, and the elements of all tensors, little-endian and
// row-major. Link weft::io.
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

// How a file stores elements: F64, F32, F16, BF16, I64, I32 and BOOL there. Elements of the
// format's other types can be in a file, but not be read as numbers.
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

// One tensor of a file. Its elements are read from the file when they are asked for.
struct stored_tensor {
  std::string name;
  stored_type type;
  std::string type_name;  // as the file has it: "F32"
  std::vector<std::size_t> shape;
  std::size_t offset;  // of its first byte, in the file
  std::size_t bytes;
  std::shared_ptr<const detail::byte_source> source;

  // The number of elements.
  std::size_t size() const;
  // "F32 [2, 3]"
  std::string description() const;

  // The elements as T: float, from any of the floating types, rounded to nearest; std::int32_t or
  // std::int64_t, from I32 and I64; bool, from BOOL; double, from all of these. Throws weft::error
  // where the file has another kind, an integer does not fit into int32, `into` has not size()
  // elements, or the file cannot be read or was written to since it was opened.
  template <class T>
  void read(std::span<T> into) const;
  template <class T>
  requires(!std::same_as<T, bool>)  // a vector<bool> does not hold bools
      std::vector<T> values()
  const;
};

// A file, of which the header is in memory. It stays open as long as there is a copy, or one of its
// tensors.
class tensor_file {
 public:
  // Reads and checks the header: each tensor's type, shape and place. Throws weft::error where the
  // file cannot be read, or is not as the format wants it.
  explicit tensor_file(const std::filesystem::path& path);
  // The bytes of a file; `name` is what errors call it.
  tensor_file(std::vector<std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  // In the order of their names.
  const std::vector<stored_tensor>& tensors() const { return tensors_; }
  // Null where there is none of this name.
  const stored_tensor* find(std::string_view name) const;
  // Throws weft::error where there is none of this name.
  const stored_tensor& operator[](std::string_view name) const;
  // What the header has under "__metadata__".
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  explicit tensor_file(std::shared_ptr<const detail::byte_source> source);

  std::string name_;
  std::vector<stored_tensor> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

// A tensor to be written, whose elements somebody keeps till then. Floats become any of the
// floating types, rounded to nearest, ties to even; the others are written as they are, or int32 as
// int64.
struct tensor_to_store {
  std::string name;
  std::vector<std::size_t> shape;
  std::variant<std::span<const float>, std::span<const std::int32_t>, std::span<const bool>> values;
  stored_type type;
};

// Writes a file. It appears under its name when it is whole and on the disk: until then, and where
// anything goes wrong, an older one stays. Meanwhile it is NAME.NUMBER.partial in the same folder;
// one that a killed process has left there is removed when that name is written next. Throws
// weft::error where it cannot be written, two names are equal, a shape has not as many elements as
// there are values, or the values do not become the type.
void write_tensors(const std::filesystem::path& path, const std::vector<tensor_to_store>& tensors,
                   const std::map<std::string, std::string, std::less<>>& metadata = {});

}  // namespace weft
