// A file that appears under its name only once it is complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace weft::detail {

// Writes to NAME.NUMBER.partial in the same folder, so that an older file NAME stays until
// commit(), and gives its mode to the new one. Of a symbolic link, NAME is what it names; of a long
// NAME, only the beginning is in that of the partial file. A partial file is locked while its
// writer lives: the next writer of NAME removes the partial files that killed writers have left,
// and no others. Failures throw weft::error.
class new_file {
 public:
  explicit new_file(const std::filesystem::path& path);
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  // Removes the partial file, unless commit() has renamed it.
  ~new_file();

  void write(std::span<const std::byte> bytes);
  // Syncs the content to disk, renames the file and syncs the folder: after a power failure there
  // is either the old file or the new one, complete.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, partial_;
  int file_ = -1;
};

}  // namespace weft::detail
