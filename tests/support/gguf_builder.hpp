// Builds the bytes of a GGUF file, valid or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::testing {

class gguf_builder {
 public:
  static constexpr std::uint32_t type_of_int32 = 5, type_of_text = 8, type_of_list = 9;

  explicit gguf_builder(std::uint64_t tensors = 0, std::uint64_t keys = 0,
                        std::uint32_t version = 3) {
    raw("GGUF").add(version).add(tensors).add(keys);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  template <class T>
  gguf_builder& add(T x) {
    const auto bytes = std::as_bytes(std::span(&x, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  gguf_builder& raw(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  gguf_builder& text(std::string_view text) { return add(std::uint64_t{text.size()}).raw(text); }
  // A key whose value, of type `type`, is yet to be added.
  gguf_builder& key(std::string_view name, std::uint32_t type) { return text(name).add(type); }
  gguf_builder& text_value(std::string_view name, std::string_view value) {
    return key(name, type_of_text).text(value);
  }
  gguf_builder& texts(std::string_view name, const std::vector<std::string>& values) {
    key(name, type_of_list).add(type_of_text).add(std::uint64_t{values.size()});
    for (const auto& v : values) text(v);
    return *this;
  }
  gguf_builder& integers(std::string_view name, const std::vector<std::int32_t>& values) {
    key(name, type_of_list).add(type_of_int32).add(std::uint64_t{values.size()});
    for (const std::int32_t v : values) add(v);
    return *this;
  }
  gguf_builder& tensor(std::string_view name, const std::vector<std::uint64_t>& extents,
                       std::uint32_t type, std::uint64_t offset) {
    text(name).add(static_cast<std::uint32_t>(extents.size()));
    for (const std::uint64_t e : extents) add(e);
    return add(type).add(offset);
  }
  gguf_builder& pad(std::size_t alignment = 32) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{0});
    return *this;
  }
  gguf_builder& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace weft::testing
