// Random access to the bytes of a file, which stays open, or of a buffer in memory.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft::detail {

class byte_source {
 public:
  // Throws weft::error if the path is not a readable regular file.
  explicit byte_source(const std::filesystem::path& path);
  byte_source(std::vector<std::byte> bytes, std::string name);
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source();

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  // Fills `into` with the bytes from `offset` on. Throws weft::error if they cannot be read, or if
  // the file was truncated or written to after it was opened. If another file was renamed to its
  // path meanwhile, this reads the old one.
  void read(std::size_t offset, std::span<std::byte> into) const;

 private:
  struct stat status() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  int file_ = -1;
  struct stat opened_ {};
  std::vector<std::byte> bytes_;  // the content if file_ is -1
  std::size_t size_ = 0;
};

}  // namespace weft::detail
