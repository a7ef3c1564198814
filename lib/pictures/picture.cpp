#include "weft/pictures/picture.hpp"

#include <filesystem>
#include <fstream>

#include "file.hpp"
#include "weft/run/error.hpp"

namespace weft {

void write_file(const std::string& file, const std::string& bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) detail::raise("cannot write " + file);
}

void picture::save(const std::string& file) const {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (!extension.empty() && extension != ".png" && extension != ".PNG")
    detail::raise("a picture is a PNG: name it with .png instead of " + extension + ": " + file);
  write_file(file, png);
}

}  // namespace weft
