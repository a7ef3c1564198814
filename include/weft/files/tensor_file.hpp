// Tensors in files: safetensors, alone or in several files, and GGUF. Link weft::files.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/run/parameter_block.hpp"
#include "weft/weights/stored.hpp"

namespace weft {

namespace detail {
class byte_source;
struct file_content;
}  // namespace detail

// A tensor in a file. Its elements are read from the file on demand.
struct stored_tensor {
  std::string name;                // unique in the file
  stored_type type;                // of its elements
  std::string type_name;           // the format's name, such as "F32" or "Q8_0"
  std::vector<std::size_t> shape;  // the extents, outermost first
  std::size_t offset;              // of its first byte in the source, in bytes
  std::size_t bytes;  // of all elements; of a type that weft does not know, up to the next tensor
  std::shared_ptr<const detail::byte_source> source;  // the file, or what is made of it

  // The number of elements: the product of the shape.
  std::size_t size() const;
  // The type and shape as text: "F32 [2, 3]".
  std::string description() const;

  // Reads the elements, in row-major order, as T: float, from any floating-point type, rounded to
  // nearest; std::int32_t or std::int64_t, from int32, int64, int8 and uint8; bool, from boolean;
  // double, from all of these. Throws weft::error where the type is another one, a value does not
  // fit into int32, a block's scale is NaN or infinite, `into` does not have size() elements, or
  // the file cannot be read or was written to since it was opened.
  template <class T>
  void read(std::span<T> into) const;
  // Reads the floating-point elements from `first` on: into.size() of them. Throws weft::error
  // where they are not in the tensor, and as read does. Several threads may read at once.
  void read_part(std::size_t first, std::span<float> into) const;
  // The elements, in row-major order, as T: see read. Not as bool.
  template <class T>
  requires(!std::same_as<T, bool>)  // a vector<bool> does not hold bools
      std::vector<T> values()
  const;
};

// A file of tensors whose description is in memory, in one of these formats:
// - safetensors, https://github.com/huggingface/safetensors#format. A weight of int8, FP8 (E4M3) or
//   int4 packed in int32 whose scales are a tensor of their own, as of compressed-tensors, is one
//   tensor of its name: weight of weight, weight_packed, weight_scale, weight_shape. Its elements
//   are numbers times scales exactly: as Q8_0 or Q4_0 where blocks of 32 have float16 scales, else
//   as float64;
// - several of them, named by an index in the same folder (model.safetensors.index.json), whose
//   "weight_map" has the file of each tensor;
// - GGUF, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: see weft/files/gguf.hpp.
// The file stays open while a copy, or one of its tensors, exists. A module can be made from it:
// see weft::weights.
class tensor_file : public parameter_source {
 public:
  // Opens a file, reads its header and checks each tensor's type, shape and offsets. Throws
  // weft::error where the file, or one that the index names, cannot be read or is not valid.
  explicit tensor_file(const std::filesystem::path& path);
  // The same from the content of a file; `name` stands for it in error messages.
  tensor_file(std::vector<std::byte> bytes, std::string name);
  // The same from memory that must outlive it, and what is made from it: parameters that are
  // float32 in the file are those in this memory. See weft::embedded of weft/files/embedded.hpp.
  tensor_file(std::span<std::byte> memory, std::string name);

  // The path, or the name given.
  const std::string& name() const { return name_; }
  // Sorted by name.
  const std::vector<stored_tensor>& tensors() const { return tensors_; }
  // The tensor with this name; null where there is none.
  const stored_tensor* find(std::string_view name) const;
  // The tensor with this name. Throws weft::error where there is none.
  const stored_tensor& operator[](std::string_view name) const;
  // The "__metadata__" of a safetensors header; empty where there is none, and for other formats.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

  // See weft::weights, without options.
  std::unique_ptr<parameter_reader> open(const program& tables) const override;

 protected:
  // Of a file that is opened.
  explicit tensor_file(detail::file_content content);

 private:
  std::string name_;
  std::vector<stored_tensor> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace weft
#include "weft/header_end.hpp"
