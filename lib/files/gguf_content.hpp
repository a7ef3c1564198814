// A GGUF file whose header is known, for its reader and for access to its metadata.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "file_content.hpp"
#include "weft/run/error.hpp"

namespace weft::detail {

// The types of metadata, by their numbers in the format.
enum class value_type : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  text,
  list,
  uint64,
  int64,
  float64
};
inline constexpr std::array<std::size_t, 13> value_bytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// Reads one number after the other.
class cursor {
 public:
  cursor(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  // Throws weft::error unless there are n more bytes, for what the message calls `what`.
  void need(std::uint64_t n, std::string_view what) const {
    if (n > left())
      fail(std::string(what) + " at byte " + std::to_string(at_) + " takes " + std::to_string(n) +
           " bytes, and the file has " + std::to_string(left()) + " more");
  }
  template <class T>
  T number(std::string_view what) {
    need(sizeof(T), what);
    T x;
    std::memcpy(&x, bytes_.data() + at_, sizeof x);
    at_ += sizeof x;
    return x;
  }
  std::string_view text(std::string_view what) {
    const auto size = number<std::uint64_t>(what);
    need(size, what);
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += static_cast<std::size_t>(size);
    return {begin, static_cast<std::size_t>(size)};
  }
  void skip(std::size_t n) { at_ += n; }

  [[noreturn]] void fail(const std::string& what) const { detail::raise(file_ + ": " + what); }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

// A key of the metadata. `offset` is that of the value in the file, in bytes: of a text's length,
// which its characters follow, and of a list's first element, which follows the count.
struct gguf_entry {
  std::string_view key;
  value_type type;  // of the value or, if it is a list, of its elements
  bool is_list;
  std::size_t count;  // of bytes of a text, of elements of a list
  std::size_t offset;
};

struct gguf_content {
  std::string name;
  file_content tensors;
  byte_source::view file;
  std::shared_ptr<const byte_source> source;  // which owns the bytes, if they are a buffer
  std::vector<gguf_entry> entries;            // sorted by key
  std::vector<std::string_view> keys;         // in the order of the file
};

// The entry of a key; null if there is none.
const gguf_entry* find_entry(const gguf_content& content, std::string_view key);

template <class T>
T value_at(const gguf_content& content, std::size_t offset) {
  T x;
  std::memcpy(&x, content.file.bytes.data() + offset, sizeof x);
  return x;
}

}  // namespace weft::detail
