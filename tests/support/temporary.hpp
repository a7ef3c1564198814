// A file that is gone when its test ends.
#pragma once

#include <filesystem>
#include <string>

namespace weft::testing {

class temporary {
 public:
  explicit temporary(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / name) {}
  temporary(const temporary&) = delete;
  ~temporary() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  operator const std::filesystem::path&() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::testing
