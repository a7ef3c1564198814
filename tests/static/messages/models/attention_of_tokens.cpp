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

// The tokens themselves, not their embedding.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto mask = weft::nn::causal<Pos, KeyPos>();
    using namespace weft::nn;
    auto y = self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, tokens, mask);  // error here
    return y.output;
  }
};

float run(const std::vector<std::int32_t>& tokens) {
  weft::module<model> net;
  auto const y = net(weft::arg<"tokens">(tokens)).get<"result">();
  return y.data()[0];
}
