#include "weft/pictures/picture.hpp"

#include "file.hpp"

namespace weft {

void picture::save(const std::string& file) const {
  write_file(file, png);
}

}  // namespace weft
