// Random access to the bytes of a file, which stays open, of a buffer, of the caller's memory, or
// to bytes that are made.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft::detail {

inline bool is_aligned(const std::byte* address, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

class byte_source {
 public:
  // Throws weft::error if the path is not a readable regular file.
  explicit byte_source(const std::filesystem::path& path);
  byte_source(std::vector<std::byte> bytes, std::string name);
  // The memory must outlive it, and what map() returns.
  byte_source(std::span<std::byte> memory, std::string name);
  // What is made when it is read: make(offset, into) fills `into`.
  using maker = std::function<void(std::size_t, std::span<std::byte>)>;
  byte_source(std::size_t size, std::string name, maker make);
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source();

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  // Fills `into` with the bytes from `offset` on. Throws weft::error if they cannot be read, or if
  // the file was truncated or written to after it was opened. If another file was renamed to its
  // path meanwhile, this reads the old one.
  void read(std::size_t offset, std::span<std::byte> into) const;
  // Maps the file into memory: pages take memory once they are used, and what is written there
  // stays private to this mapping. The caller's memory is returned as it is. Null for a buffer, and
  // where the system refuses.
  // Throws weft::error if the file was written to after it was opened. Later changes of the file
  // may be seen; where it is truncated, accesses fail with SIGBUS.
  std::shared_ptr<std::byte[]> map() const;
  // All bytes, to be read: of the mapped file, of the memory, or of the buffer, which must outlive
  // the view.
  // Throws weft::error if the system does not map the file.
  struct view {
    std::shared_ptr<const std::byte[]> owner;
    std::span<const std::byte> bytes;
  };
  view all() const;

 private:
  void check_unchanged() const;
  struct stat status() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  int file_ = -1;
  struct stat opened_ {};
  std::vector<std::byte> bytes_;   // the content of a buffer
  std::span<std::byte> memory_{};  // the caller's
  std::size_t size_ = 0;
  maker make_;
};

}  // namespace weft::detail
