// expect: nn::masked_softmax: a mask of floats is added and needs the keys' axis
// expect: valid lengths are std::int32_t, without it
// expect: shape<Batch>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto scores = s.input<"scores", float, Batch, Pos, KeyPos>();
    auto lengths = s.input<"lengths", float, Batch>();
    return weft::nn::masked_softmax<KeyPos>(scores, lengths);  // error here
  }
};

float run(const std::vector<float>& scores, const std::vector<float>& lengths) {
  weft::module<model> net;
  auto const y = net(weft::arg<"scores">(scores), weft::arg<"lengths">(lengths)).get<"result">();
  return y.data()[0];
}
