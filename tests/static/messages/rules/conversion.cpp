#include <cmath>

#include "weft/ops/compare.hpp"
#include "weft/ops/sources.hpp"

#include "../../words.hpp"

using namespace words;

constexpr auto places = weft::positions<Pos>();
constexpr auto length = weft::length<Pos>();

// Parameters, as clang names no axes where a conversion is at fault.
void wrong(masks<KeyPos, Pos> mask, floats<Embed> a, integers<Batch> n) {
  // errors: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
  if (mask) return;
  while (places < 3) return;
  void(a > 0 ? 1 : 2);
  void(mask && true);
  // errors: number: what a tensor holds comes with a run; of std::exp and others weft has its own,
  // as weft::exp(x)
  std::exp(a);
  std::tanh(length);
  std::pow(a, 2);
  double y = n;
  // errors: assign: a variable keeps its elements and axes; give the new tensor a name of its own
  floats<Batch, Embed, Pos>{} = x;
  integers<Batch>{} = floats<Batch>{};
  floats<>{} = 1.0f;
}
