#include <weft/weft.hpp>

#include "answer.hpp"
#include "model.hpp"

bool refuses_other_lengths() {
  weft::module<product> net;
  const weft::array<float, Pos> x(3), y(4);
  try {
    net(weft::arg<"x">(x), weft::arg<"y">(y));
  } catch (const weft::error&) {
    return true;
  }
  return false;
}
