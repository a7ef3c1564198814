// What a layer or a scan gives is taken in the same expression, and goes on.
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
struct Wide : weft::axis<384> {};

// The error stands where the layer is used, not in the layer.
struct attention {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft::nn;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    // error: nn::self_attention: an operand lacks the axis of its role; see fault<>
    // note: shape<Batch, Pos>
    auto y = exp(self_attention<axes>(s, tokens).output);
    return y;
  }
};

struct recurrence {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Heads>();
    auto start = s.param<"start", Embed>();
    auto count = s.param<"count">();
    auto w = s.param<"w", Embed, Wide>();
    const auto body = [&](auto n, auto h, auto) {
      return weft::next(n + 1, weft::dot<Embed>(h, w));
    };
    // error: scan: the body returns a carry with other axes than its initial value
    // note: carry_becomes
    // note: shape<Embed>
    // note: shape<Wide>
    return exp(std::get<1>(weft::scan<Pos>(std::tuple{count, start}, x, body).all));
  }
};

float run(const std::vector<std::int32_t>& tokens, const std::vector<float>& x) {
  weft::module<attention> net;
  weft::module<recurrence> other;
  const auto y = net(weft::arg<"tokens">(tokens));
  return y.data()[0] + other(weft::arg<"x">(x)).data()[0];
}
