// expect: scan: the body returns a carry with other axes than its initial value
// expect: shape<State>
// expect: shape<Wide>
// expect: carry_becomes
#include <vector>
#include <weft/weft.hpp>

struct Pos : weft::axis<weft::up_to<512>> {};
struct In : weft::axis<3> {};
struct State : weft::axis<8> {};
struct Wide : weft::axis<8> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, In>();
    auto start = s.param<"start", State>();
    auto count = s.param<"count">();
    auto w = s.param<"w", State, Wide>();
    auto const body = [&](auto n, auto h, auto) {
      return weft::next(n + 1, weft::dot<State>(h, w));
    };
    return weft::scan<Pos>(std::tuple{count, start}, x, body).all;  // error here
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
