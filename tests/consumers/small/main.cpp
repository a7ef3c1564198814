#include <weft/run.hpp>

#include "model.hpp"

int main() {
  static weft::module<small::detector> net;
  weft::array<float, small::One, small::Sample> x;
  const float y = net(weft::arg<"samples">(x))();
  return y > 0 && y < 1 ? 0 : 1;
}
