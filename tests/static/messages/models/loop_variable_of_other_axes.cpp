#include <vector>
#include <weft/weft.hpp>

struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto y = x;
    for (int i = 0; i < 3; ++i)
      // error: assign: a variable keeps its elements and axes; give the new tensor a name of its
      // own
      // note: before<weft::tensor<float, weft::shape<Pos, Embed>
      // note: shape<Pos, Hidden>
      y = dot<Embed>(y, (s / i).param<"weight", Embed, Hidden>());
    return y;
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  const auto y = net(weft::arg<"x">(x));
  return y.data()[0];
}
