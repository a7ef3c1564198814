#include "weft/ops/expect.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // errors: expect: the axes are not those that are named; see missing<> and surplus<>
  // note: surplus<
  weft::expect<Batch, Pos>(x);
  weft::expect<Batch, Pos, Embed, Heads>(x);
  weft::expect<weft::shape<>>(gain);
  weft::expect(x);
  weft::expect<Batch, KeyPos, Embed>(x);
  // errors: expect: name each axis once, as in expect<Batch, Pos, Embed>(x)
  weft::expect<Batch, Pos, Embed, Pos>(x);
  weft::expect<Batch, int>(tokens);
  weft::expect<Batch, Pos, Pos, Embed>(x);
  weft::expect<Batch, Pos, Embed, int>(x);
  weft::expect<int>(gain);
}
