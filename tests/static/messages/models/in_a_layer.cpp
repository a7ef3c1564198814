#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};

// A layer of the user's own, for any input: the error stands in the layer, and says from where it
// was called.
template <weft::expression X>
constexpr auto attention(weft::scope s, const X& x) {
  auto query = dot<Embed>(x, s.param<"query", Embed, Heads, HeadDim>());
  auto key = dot<Embed>(x, s.param<"key", Embed, Heads, HeadDim>());
  auto scores = dot<HeadDim>(query, key);
  // error: softmax: the operand has no such axis
  // note: shape<Batch, Pos, Heads>
  return weft::softmax<KeyPos>(scores);
}

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    return attention(s / "attention", x);
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  const auto y = net(weft::arg<"x">(x));
  return y.data()[0];
}
