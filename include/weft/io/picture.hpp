// Pictures, as heat_map.hpp and line_chart.hpp draw them. Link weft::pictures.
#pragma once

#include <cstddef>
#include <string>

namespace weft {

// A picture that is finished. Lengths in its drawing are in units; each is `scale` pixels.
struct picture {
  std::string png = {};   // the bytes of a PNG file, without transparency
  std::size_t width = 0;  // pixels
  std::size_t height = 0;
  std::size_t scale = 1;

  // Throws weft::error where the file cannot be written.
  void write(const std::string& file) const;
};

}  // namespace weft
