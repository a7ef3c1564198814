// expect: argument: an input is missing; give each with weft::arg<"name">(x)
// expect: missing_input<
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
  (void)scale;
  auto const y = net(weft::arg<"x">(x)).get<"result">();  // error here
  return y(0, 1);
}
