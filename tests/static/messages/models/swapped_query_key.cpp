#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto query = dot<Embed>(x, s.param<"query", Embed, Heads, HeadDim>());
    auto key = weft::rename<Pos, KeyPos>(dot<Embed>(x, s.param<"key", Embed, Heads, HeadDim>()));
    auto weights = weft::softmax<KeyPos>(dot<HeadDim>(query, key) / sqrt(HeadDim{}));
    // error: dot: the right operand has no such axis to contract
    // note: shape<Batch, Pos, Heads, HeadDim>
    return dot<KeyPos>(weights, query);  // the lengths are equal, the roles are not
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  const auto y = net(weft::arg<"x">(x));
  return y.data()[0];
}
