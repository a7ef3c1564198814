// Models whose results depend on NaN, infinities, signed zeros, exact sums and small roundings.
#pragma once

#include <weft/model.hpp>

namespace arithmetic {

struct Pos : weft::axis<weft::up_to<19>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<20> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<5> {};
struct Hidden : weft::axis<37> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

struct encoder {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, Embed>();
    const auto y = weft::nn::encoder<axes>(s, x, 2).output;
    const auto target = weft::cast<std::int32_t>(weft::max<Embed>(x));
    const auto loss = weft::cross_entropy<Embed>(y, target);
    return weft::results(weft::as<"loss">(weft::mean<Pos>(loss)), weft::as<"y">(y));
  }
};

struct elementwise {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    const auto x = s.input<"x", float, Pos>();
    const auto y = s.input<"y", float, KeyPos>();
    const auto hidden = where(positions<Pos>() > 3, x, -infinity);
    return results(as<"functions">(exp(x) + log(x * x) * tanh(x) + sin(x) * sqrt(x * x) + gelu(x)),
                   as<"quotient">(x / y), as<"power">(pow(x * x, y)), as<"greatest">(max<Pos>(x)),
                   as<"ordered">(where(x <= y, x, y)), as<"unequal">(where(x != x, 1.0f, 0.0f)),
                   as<"zeros">(1.0f / (x * 0.0f)), as<"cancelled">((x + 1e8f) - 1e8f),
                   as<"weights">(softmax<Pos>(hidden)),
                   as<"sum">(sum<Pos>(where(positions<Pos>() > 5, x * 0.1f, 0.0f))));
  }
};

}  // namespace arithmetic
