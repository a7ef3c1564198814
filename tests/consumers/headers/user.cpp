// A program's source file that includes every header and uses models, trainers and files. Compiled
// with the macros of macros.hpp (-DWITH_MACROS) and with the warnings that careful projects have,
// by every compiler.
#ifdef WITH_MACROS
#include "macros.hpp"
#endif
#include "every_header.hpp"
#if defined WITH_MACROS && !(defined emit && defined min && defined I && defined Status)
#error "the program does not have its macros again"
#endif

namespace app {
namespace {

struct Batch : weft::axis<weft::up_to<8>> {};
struct Pos : weft::axis<weft::up_to<16>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<8> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<4> {};

struct attention {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto project = [&](auto to) { return nn::linear<Embed, shape<Heads, HeadDim>>(s / to, x); };
    auto scores = dot<HeadDim>(project("q"), rename<Pos, KeyPos>(project("k"))) / 2;
    auto shown = where(positions<KeyPos>() <= positions<Pos>(), scores, -infinity);
    auto values = rename<Pos, KeyPos>(project("v"));
    auto y = dot<Heads, HeadDim>(dot<KeyPos>(softmax<KeyPos>(shown), values),
                                 s.param<"out", Heads, HeadDim, Embed>());
    // As one writes functions whose names are macros.
    y = y + (weft::abs)(x) + weft::min<Embed>((weft::exp)(x));
    auto loss = mean<Batch, Pos, Embed>((y - x) * (y - x));
    return results(as<"loss">(loss), as<"y">(y));
  }
};

}  // namespace
}  // namespace app

int main() {
  weft::array<float, app::Batch, app::Pos, app::Embed> x(2, 3);
  weft::trainer<app::attention, weft::adamw> trainer({.learning_rate = 0.01});
  float loss = 1;
  for (int step = 0; step < 3; ++step) loss = trainer.step(weft::arg<"x">(x));
  weft::module<app::attention, "y"> net(trainer.parameters());
  try {
    weft::save(net, "model.safetensors");
    weft::load(net, "model.safetensors");
  } catch (const weft::error&) {
    return 2;
  }
  const auto y = net(weft::arg<"x">(x)).get<"y">();
  return loss < 1 && y(0, 0, 0) < 1 ? 0 : 1;
}
