// expect: add: the operands' elements differ; convert one with weft::cast
// expect: int
// expect: float
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Vocab : weft::axis<1000> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto x = weft::nn::embedding<Vocab, Embed>(s / "tokens", tokens);
    return x + weft::positions<Pos>();  // error here
  }
};

float run(const std::vector<std::int32_t>& tokens) {
  weft::module<model> net;
  auto const y = net(weft::arg<"tokens">(tokens)).get<"result">();
  return y.data()[0];
}
