// expect: layer_norm: gain or bias has an axis that the operand has not
// expect: Embed
// expect: shape<Hidden>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto gain = s.param<"gain", Hidden>(weft::init::ones());
    auto bias = s.param<"bias", Embed>(weft::init::zeros());
    return weft::layer_norm<Embed>(x, gain, bias);  // error here
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
