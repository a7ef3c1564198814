// expect: concatenate: the extent of the whole is not the sum of the parts'
// expect: Hidden
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto rotated = s.input<"rotated", float, Batch, Pos, HeadDim>();
    auto rest = s.input<"rest", float, Batch, Pos, Heads>();
    return weft::concatenate<Hidden, weft::shape<HeadDim, Heads>>(rotated, rest);  // error here
  }
};

float run(const std::vector<float>& rotated, const std::vector<float>& rest) {
  weft::module<model> net;
  auto const y = net(weft::arg<"rotated">(rotated), weft::arg<"rest">(rest)).get<"result">();
  return y.data()[0];
}
