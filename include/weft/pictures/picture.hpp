// Pictures, as heat_map.hpp and line_chart.hpp draw them. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <string>

#include "weft/language.hpp"

namespace weft {

// A rendered picture. Lengths in its drawing are in units of `scale` pixels.
struct picture {
  std::string png = {};    // the bytes of a PNG file, without transparency
  std::size_t width = 0;   // pixels
  std::size_t height = 0;  // pixels
  std::size_t scale = 1;   // pixels per unit

  // Saves it as a PNG file. Throws weft::error where the name has another extension, or it cannot
  // be written.
  void save(const std::string& file) const;
};

}  // namespace weft
#include "weft/header_end.hpp"
