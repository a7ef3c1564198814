// expect: where: the condition is a mask of booleans, such as a comparison gives
// expect: float
// expect: shape<Pos, KeyPos>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto scores = s.input<"scores", float, Batch, Pos, KeyPos>();
    auto mask = s.input<"mask", float, Pos, KeyPos>();
    return weft::softmax<KeyPos>(where(mask, scores, -1e9));  // error here
  }
};

float run(const std::vector<float>& scores, const std::vector<float>& mask) {
  weft::module<model> net;
  auto const y = net(weft::arg<"scores">(scores), weft::arg<"mask">(mask)).get<"result">();
  return y.data()[0];
}
