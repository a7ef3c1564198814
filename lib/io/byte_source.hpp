// Bytes that are read when they are wanted: of a file that stays open, or in memory.
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
  // Throws weft::error where it is no regular file that can be read.
  explicit byte_source(const std::filesystem::path& path);
  byte_source(std::vector<std::byte> bytes, std::string name);
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source();

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  // Throws weft::error where the file cannot be read, or is another one than when it was opened: it
  // has not these bytes any more, or its size or time of writing differs. A file that another one
  // has replaced under its name stays as it is.
  void read(std::size_t offset, std::span<std::byte> into) const;

 private:
  struct stat status() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  int file_ = -1;
  struct stat opened_ {};
  std::vector<std::byte> bytes_;  // where there is no file
  std::size_t size_ = 0;
};

}  // namespace weft::detail
