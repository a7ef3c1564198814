#include "weft/ops/expect.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: expect: the axes are not those that are named; see missing<> and surplus<>
  weft::expect<Batch, Pos>(x);
  // error: expect: the axes are not those that are named; see missing<> and surplus<>
  weft::expect<Batch, Pos, Embed, Heads>(x);
  // error: expect: the axes are not those that are named; see missing<> and surplus<>
  weft::expect<weft::shape<>>(gain);
  // error: expect: name each axis once, as in expect<Batch, Pos, Embed>(x)
  weft::expect<Batch, Pos, Embed, Pos>(x);
  // error: expect: name each axis once, as in expect<Batch, Pos, Embed>(x)
  weft::expect<Batch, int>(tokens);
}
