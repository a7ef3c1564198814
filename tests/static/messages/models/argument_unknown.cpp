// expect: argument: nothing that is computed needs an input of this name
// expect: scales
// expect: x: float [Batch, Embed]
// expect: scale: float [Hidden]
#include <weft/weft.hpp>

struct Batch : weft::axis<weft::up_to<8>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    auto scale = s.input<"scale", float, Hidden>();
    return scale * weft::dot<Embed>(x, s.param<"w", Embed, Hidden>());
  }
};

float run(const weft::array<float, Batch, Embed>& x, const weft::array<float, Hidden>& scale) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x), weft::arg<"scales">(scale))  // error here
                     .get<"result">();
  return y(0, 1);
}
