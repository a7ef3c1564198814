#include "answer.hpp"

#include <weft/weft.hpp>

#include "model.hpp"

float answer() {
  weft::array<float, Pos> x(3);
  for (std::size_t i = 0; i < 3; ++i) x(i) = static_cast<float>(i + 1);
  weft::array<float, Channels> c;
  for (std::size_t i = 0; i < 4; ++i) c(i) = static_cast<float>(i);
  weft::module<fixed_product> fixed(weft::generated<fixed_product>());
  if (const auto y = fixed(weft::arg<"x">(c)); y() != 14) return -1;
  weft::module<product> net;
  const auto y = net(weft::arg<"x">(x), weft::arg<"y">(x));
  return y();
}
