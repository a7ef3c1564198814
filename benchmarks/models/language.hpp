// A decoder-only language model.
#pragma once

#include "examples/char_lm/model.hpp"

namespace bench {

struct language_axes {
  struct Batch : weft::axis<8> {};
  struct Pos : weft::axis<128> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Vocab : weft::axis<96> {};
  struct Embed : weft::axis<128> {};
  struct Heads : weft::axis<4> {};
  struct HeadDim : weft::axis<32> {};
  struct Hidden : weft::axis<512> {};
};

template <int Layers>
using language_model = char_lm::model<Layers, language_axes>;

}  // namespace bench
