// expect: module: the model has no result of this name
// expect: logit
// expect: logits: float [Batch]
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto logits = weft::dot<Embed>(s.input<"x", float, Batch, Embed>(), s.param<"w", Embed>());
    return weft::results(weft::as<"logits">(logits), weft::as<"all">(weft::sum<Batch>(logits)));
  }
};

float run(const weft::array<float, Batch, Embed>& x) {
  weft::module<model, "logit"> net;  // error here
  auto const y = net(weft::arg<"x">(x)).get<"logit">();
  return y(0);
}
