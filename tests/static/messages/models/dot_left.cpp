// expect: dot: the left operand has no such axis to contract
// expect: Hidden
// expect: shape<Batch, Pos, Embed>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    [[maybe_unused]] auto hidden = relu(dot<Embed>(x, s.param<"up", Embed, Hidden>()));
    auto down = s.param<"down", Hidden, Embed>();
    return x + dot<Hidden>(x, down);  // error here: meant hidden
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
