// expect: expect: the axes are not those that are named; see missing<> and surplus<>
// expect: missing<>
// expect: surplus<Output>
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};
struct Output : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    using weft::shape;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto hidden = relu(nn::linear<shape<Embed>, shape<Hidden>>(s / "in", x));
    auto y = nn::linear<shape<Hidden>, shape<Output>>(s / "out", hidden);
    return weft::expect<Batch, Pos, Embed>(x + y);  // error here
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
