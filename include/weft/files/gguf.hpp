// GGUF files, version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): tensors, and
// metadata such as a tokenizer's vocabulary. Link weft::files.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/files/tensor_file.hpp"

namespace weft {

namespace detail {
struct gguf_content;
}

// A GGUF file with its metadata:
//
//   weft::gguf_file file("SmolLM2.gguf");
//   auto words = file.texts("tokenizer.ggml.tokens");
//   weft::module<llama> net(weft::weights(file, {.name_in_file = as_in_gguf}));
//
// The file is mapped into memory, and each offset, count, type and text is checked against its size
// when it is opened. It must not be changed in place or truncated meanwhile. Shapes of tensors are
// outermost first, as everywhere in weft; in the file they are innermost first.
class gguf_file : public tensor_file {
 public:
  // Throws weft::error where the file cannot be read or is not valid.
  explicit gguf_file(const std::filesystem::path& path);
  // The same from the content of a file; `name` stands for it in error messages.
  gguf_file(std::vector<std::byte> bytes, std::string name);

  // The keys of the metadata, in the order of the file. They and all texts are valid while a copy
  // of this object exists.
  const std::vector<std::string_view>& keys() const;
  // Whether the metadata has the key.
  bool contains(std::string_view key) const;

  // The value of a key, in UTF-8. This and the functions below throw weft::error where there is no
  // such key, or its value is of another kind.
  std::string_view text(std::string_view key) const;
  // An integer of any width. Also throws where it does not fit.
  std::int64_t integer(std::string_view key) const;
  // A floating-point number or an integer.
  double number(std::string_view key) const;
  // A boolean.
  bool flag(std::string_view key) const;
  // A list of texts.
  std::vector<std::string_view> texts(std::string_view key) const;
  // A list of integers of any width.
  std::vector<std::int64_t> integers(std::string_view key) const;
  // A list of floating-point numbers or integers.
  std::vector<double> numbers(std::string_view key) const;

 private:
  explicit gguf_file(detail::gguf_content content);

  std::shared_ptr<const detail::gguf_content> content_;
};

}  // namespace weft
#include "weft/header_end.hpp"
