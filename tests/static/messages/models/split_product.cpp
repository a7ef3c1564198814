// expect: split: the product of the new axes' extents is not the axis's extent
// expect: Embed
// expect: Heads, Batch
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto heads = weft::split<Embed, Heads, Batch>(x);  // error here: 6 * 8 is not 384
    return weft::sum<Pos>(heads);
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
