// expect: nn::self_attention: the operand has not both Pos and Embed
// expect: KeyPos
// expect: shape<Batch, Pos>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};

// The output is taken in the same expression, and goes on.
struct model {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto y =
        exp(self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, tokens).output);  // error here
    return y;
  }
};

float run(const std::vector<std::int32_t>& tokens) {
  weft::module<model> net;
  auto const y = net(weft::arg<"tokens">(tokens)).get<"result">();
  return y.data()[0];
}
