// The training of 12 encoder layers.
#include "compile_cost/evaluation.hpp"

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<128> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<256> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<64> {};
struct Hidden : weft::axis<1024> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto y = weft::nn::encoder<axes>(s, x, 12).output;
    return weft::results(weft::as<"loss">(weft::mean<Batch, Pos, Embed>(y * y)));
  }
};
constexpr int instructions = weft::testing::evaluate<model>(weft::training_passes);

void use(const float* x) {
  weft::trainer<model> trainer;
  trainer.step(weft::arg<"x">(std::span(x, Batch::extent * Pos::extent * Embed::extent)));
}
