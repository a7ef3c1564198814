#include "weft/ops/sources.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // errors: constant: the number is float, std::int32_t, bool or weft::bfloat16, as in
  // constant(1.0f)
  weft::constant(1.0);
  weft::constant(2L);
  // errors: positions: name an axis, as in positions<Pos>()
  weft::positions<int>();
  weft::positions<weft::shape<Pos>>();
  // errors: length: name axes, as in length<Batch, Pos>()
  weft::length<int>();
  weft::length<weft::shape<Pos>>();
  weft::length<Pos, int>();
}
