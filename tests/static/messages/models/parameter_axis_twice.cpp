#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    // error: param: an axis is named twice; give the second role a name of its own with weft::alias
    // note: Embed, Embed
    auto square = s.param<"square", Embed, Embed>();
    return dot<Embed>(x, square);
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  const auto y = net(weft::arg<"x">(x));
  return y.data()[0];
}
