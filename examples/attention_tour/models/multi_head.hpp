#pragma once

#include <weft/model.hpp>

namespace multi_head {

struct Batch : weft::axis<2> {};
struct Pos : weft::axis<4> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<100> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto lengths = s.input<"lengths", std::int32_t, Batch>();
    auto seen = weft::nn::self_attention<axes>(s, x, lengths, {.bias = false});
    return weft::results(weft::as<"output">(seen.output), weft::as<"weights">(seen.weights));
  }
};

}  // namespace multi_head
