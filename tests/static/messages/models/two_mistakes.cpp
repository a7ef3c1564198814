// expect: dot: the operands' elements are not float; convert with weft::cast<float>
// expect: Heads
// expect: int
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct Hidden : weft::axis<1536> {};

// Elements and axis are both wrong: there is one message, not an ambiguity.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    return dot<Heads>(tokens, s.param<"weight", Embed, Hidden>());  // error here
  }
};

float run(const std::vector<std::int32_t>& tokens) {
  weft::module<model> net;
  auto const y = net(weft::arg<"tokens">(tokens)).get<"result">();
  return y.data()[0];
}
