// The wrong expression is assigned, or its value is not used, so that the function has a type.
#include <vector>
#include <weft/weft.hpp>

struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};

struct assigned {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    for (int i = 0; i < 3; ++i)
      // error: softmax: the operand has no such axis
      x = x + weft::softmax<Heads>(x);
    return x;
  }
};
struct unused {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    // error: dot: the right operand has no such axis to contract
    weft::dot<Embed>(x, s.param<"w", Heads>());
    return x;
  }
};

float run(const std::vector<float>& x) {
  weft::module<assigned> first;
  weft::module<unused> second;
  return first(weft::arg<"x">(x)).data()[0] + second(weft::arg<"x">(x)).data()[0];
}
