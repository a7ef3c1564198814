#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};

// Names are known only when the model's function is evaluated, so the error is where it is used.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    for (int i = 0; i < 2; ++i) x = x * (s / "layers" / 0).param<"weight", Embed>();  // 0, not i
    return weft::results(weft::as<"loss">(weft::mean<Batch, Embed>(x)), weft::as<"x">(x));
  }
};

float run(const weft::array<float, Batch, Embed>& x) {
  // error: param: two parameters have the same name
  // note: layers.0.weight
  weft::module<model, "x"> net;
  net.freeze();
  net.parameters().get<"layers.0.weight", Embed>()(0) = 1;
  weft::explain<model>();
  const auto y = net(weft::arg<"x">(x)).get<"x">();
  return y(0, 1);
}
