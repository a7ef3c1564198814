// The pictures that textbooks draw of positions.
#pragma once

#include <string>
#include <vector>
#include <weft/io/picture.hpp>

#include "study.hpp"

namespace positions {

struct figure {
  std::string name;  // of a file, without its ending
  std::string caption;
  weft::picture shown;
};

// Columns of sines, all of them as a heat map, binary numbers beside them, and how the score of
// rotary embeddings falls with the distance.
std::vector<figure> drawn_from_formulas();

// What an encoding adds to embeddings, before training, where it is learned, and after it, and how
// alike positions are then. None where it adds nothing.
std::vector<figure> drawn_from_training(const settings& s, std::size_t contestant,
                                        const outcome& found);

}  // namespace positions
