// A hash of a program's tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::detail {

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), of 64 bits.
class fnv_hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      value_ ^= static_cast<unsigned char>(c);
      value_ *= 0x100000001b3;
    }
    add(static_cast<std::int64_t>(text.size()));
  }
  void add(std::int64_t number) {
    for (int byte = 0; byte < 8; ++byte) {
      value_ ^= static_cast<std::uint64_t>(number) >> (8 * byte) & 0xff;
      value_ *= 0x100000001b3;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace weft::detail
