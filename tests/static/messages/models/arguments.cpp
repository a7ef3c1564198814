// The message names what the inputs are, and what is wrong with an argument.
#include <weft/weft.hpp>

struct Batch : weft::axis<weft::up_to<8>> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    auto scale = s.input<"scale", float, Hidden>();
    return scale * weft::dot<Embed>(x, s.param<"w", Embed, Hidden>());
  }
};

float missing(const weft::array<float, Batch, Embed>& x) {
  weft::module<model> net;
  // error: argument: an input is missing; give each with weft::arg<"name">(x)
  // note: missing_input<
  // note: scale: float [Hidden]
  const auto y = net(weft::arg<"x">(x));
  return y(0, 1);
}

float of_other_axes(const weft::array<float, Batch, Embed>& x) {
  weft::module<model> net;
  // error: argument: the axes are not those of the input
  // note: wrong_argument<
  // note: scale: float [Hidden]
  const auto y = net(weft::arg<"x">(x), weft::arg<"scale">(x));
  return y(0, 1);
}

float unknown(const weft::array<float, Batch, Embed>& x, const weft::array<float, Hidden>& scale) {
  weft::module<model> net;
  // error: argument: nothing that is computed needs an input of this name
  // note: scales
  // note: x: float [Batch, Embed]
  // note: scale: float [Hidden]
  const auto y = net(weft::arg<"x">(x), weft::arg<"scales">(scale));
  return y(0, 1);
}
