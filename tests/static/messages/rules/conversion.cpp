#include <cmath>

#include "weft/ops/compare.hpp"
#include "weft/ops/sources.hpp"

#include "../../words.hpp"

using namespace words;

void wrong() {
  // error: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
  if (causal) {
  }
  // error: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
  while (weft::positions<Pos>() < 3) {
  }
  // error: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
  void(x > 0 ? 1 : 2);
  // error: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
  void(causal && true);
  // error: number: what a tensor holds comes with a run; of std::exp and others weft has its own,
  // as weft::exp(x)
  std::exp(x);
  // error: number: what a tensor holds comes with a run; of std::exp and others weft has its own,
  // as weft::exp(x)
  std::tanh(weft::length<Pos>());
  // error: number: what a tensor holds comes with a run; of std::exp and others weft has its own,
  // as weft::exp(x)
  std::pow(gain, 2);
  // error: number: what a tensor holds comes with a run; of std::exp and others weft has its own,
  // as weft::exp(x)
  double y = tokens;
  // error: assign: a variable keeps its elements and axes; give the new tensor a name of its own
  floats<Batch, Embed, Pos>{} = x;
  // error: assign: a variable keeps its elements and axes; give the new tensor a name of its own
  integers<Batch>{} = floats<Batch>{};
  // error: assign: a variable keeps its elements and axes; give the new tensor a name of its own
  floats<>{} = 1.0f;
}
