#include <weft/weft.hpp>
struct Pos : weft::axis<weft::up_to<16>> {};
struct product {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Pos>(s.input<"x", float, Pos>() * s.input<"y", float, Pos>());
  }
};
int main() {
  weft::module<product> net;
  weft::array<float, Pos> x(3);
  for (float& v : x) v = 2;
  auto y = net(weft::arg<"x">(x), weft::arg<"y">(x));
  return y() == 12 ? 0 : 1;
}
