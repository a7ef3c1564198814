// A text as bytes, split in two parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

struct corpus {
  std::vector<std::int32_t> bytes;
  std::size_t train_size = 0;

  std::span<const std::int32_t> train() const { return std::span(bytes).first(train_size); }
  std::span<const std::int32_t> held_out() const { return std::span(bytes).subspan(train_size); }
};

// Reads a file of at most 128 MiB; the last tenth is held out, and has at least `least` bytes.
// Throws a weft::error that says what is wrong with the file, and what is allowed.
corpus read_corpus(const std::string& file, std::size_t least);

}  // namespace examples
