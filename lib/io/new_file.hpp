// A file that takes its name when it is whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace weft::detail {

// Is written beside the file of its name, as NAME.NUMBER.partial, so that an older one stays till
// then. As long as its writer lives, that one is locked: the next writer of the name removes those
// that killed ones have left, and no other one's. Whatever fails is a weft::error.
class new_file {
 public:
  explicit new_file(const std::filesystem::path& path);
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  // Removes what has not got its name.
  ~new_file();

  void write(std::span<const std::byte> bytes);
  // Gives it its name, with all of it on the disk before and the name afterwards: a machine that
  // loses power has the old file or the new one.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, partial_;
  int file_ = -1;
};

}  // namespace weft::detail
