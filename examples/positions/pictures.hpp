// The usual textbook pictures of position encodings.
#pragma once

#include <string>
#include <vector>
#include <weft/pictures/picture.hpp>

#include "study.hpp"

namespace positions {

struct figure {
  std::string name;  // of the file, without its extension
  std::string caption;
  weft::picture shown;
};

// Some columns of the sinusoidal encoding, all of it as a heat map, binary numbers for comparison,
// and the score of rotary embeddings by distance.
std::vector<figure> drawn_from_formulas();

// What an encoding adds to embeddings, before training (if it is learned) and after, and the
// cosines between positions after. Empty where it adds nothing.
std::vector<figure> drawn_from_training(const settings& s, std::size_t contestant,
                                        const outcome& found);

}  // namespace positions
