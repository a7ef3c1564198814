// expect: dot: the left operand has no such axis to contract
// expect: Heads
// expect: shape<Batch, Pos, Embed>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};

// The mistake stands inside an expression, and what it gives is used: what follows from it comes
// after the message, if at all.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto w = s.param<"w", Embed, Heads>();
    auto y = x + gelu(dot<Heads>(x, w)) * 2;  // error here
    return weft::mean<Batch, Pos>(y);
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
