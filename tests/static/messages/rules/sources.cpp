#include "weft/ops/sources.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: constant: the number is float, std::int32_t, bool or weft::bfloat16, as in
  // constant(1.0f)
  weft::constant(1.0);
  // error: constant: the number is float, std::int32_t, bool or weft::bfloat16, as in
  // constant(1.0f)
  weft::constant(2L);
  // error: positions: name an axis, as in positions<Pos>()
  weft::positions<int>();
  // error: length: name axes, as in length<Batch, Pos>()
  weft::length<int>();
  // error: length: name axes, as in length<Batch, Pos>()
  weft::length<weft::shape<Pos>>();
}
