// expect: gather: the indices are not int32
// expect: Vocab
// expect: float
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Vocab : weft::axis<1000> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", float, Batch, Pos>();
    auto table = s.param<"table", Vocab, Embed>();
    return weft::gather<Vocab>(table, tokens);  // error here
  }
};

float run(const std::vector<float>& tokens) {
  weft::module<model> net;
  auto const y = net(weft::arg<"tokens">(tokens)).get<"result">();
  return y.data()[0];
}
