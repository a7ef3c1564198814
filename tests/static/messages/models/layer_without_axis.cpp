// expect: nn::linear: the operand has no such axis
// expect: shape<Hidden>
// expect: shape<Batch, Pos, Embed>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

// The error stands where the layer is used, not in the layer.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    return weft::nn::linear<weft::shape<Hidden>, weft::shape<Embed>>(s / "out", x);  // error here
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
