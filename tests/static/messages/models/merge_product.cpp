// expect: merge: the new axis's extent is not the product of the others'
// expect: Hidden
// expect: Heads, HeadDim
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Heads, HeadDim>();
    return weft::merge<Hidden, Heads, HeadDim>(x);  // error here: 6 * 64 is not 1536
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
