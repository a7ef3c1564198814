// expect: nn::self_attention: the mask has an axis that the scores have not
// expect: only_the_mask_has<SourceBatch>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct SourceBatch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto lengths = s.input<"lengths", std::int32_t, SourceBatch>();
    auto mask = nn::masks(nn::causal<Pos, KeyPos>(), lengths);
    return nn::self_attention<Pos, KeyPos, Embed, Heads, HeadDim>(s, x, mask).output;  // error here
  }
};

float run(const std::vector<float>& x, const std::vector<std::int32_t>& lengths) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x), weft::arg<"lengths">(lengths)).get<"result">();
  return y.data()[0];
}
