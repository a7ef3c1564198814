// A path for a file or folder, which is removed at the end of its test; no other test run uses it.
#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace weft::testing {

class temporary {
 public:
  explicit temporary(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              (name + '_' + std::to_string(std::random_device()()))) {}
  temporary(const temporary&) = delete;
  ~temporary() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  operator std::filesystem::path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::testing
