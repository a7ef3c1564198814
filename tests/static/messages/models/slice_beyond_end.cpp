// expect: slice: the part ends beyond the axis
// expect: HeadDim
// expect: Embed
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct HeadDim : weft::axis<64> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto first = weft::slice<Embed, HeadDim>(x);
    auto last = weft::slice<Embed, HeadDim, 384>(x);  // error here: meant 320
    return first + last;
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
