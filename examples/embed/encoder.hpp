// A small encoder of a text's bytes: the model that the library in C has.
#pragma once

#include <weft/model.hpp>

namespace app {

struct Pos : weft::axis<weft::between<1, 128>> {};  // the text's bytes
struct KeyPos : weft::alias<Pos> {};
struct Byte : weft::axis<256> {};
struct Embed : weft::axis<32> {};
struct Heads : weft::axis<4> {};
struct HeadDim : weft::axis<8> {};
struct Hidden : weft::axis<64> {};

struct encoder {
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };
  constexpr auto operator()(weft::scope s) const {
    auto x = weft::nn::embedding<Byte, Embed>(s / "bytes", s.input<"tokens", std::int32_t, Pos>());
    auto y = weft::nn::encoder<axes>(s / "encoder", x, 2).output;
    return weft::results(weft::as<"vector">(weft::mean<Pos>(y)));
  }
};

}  // namespace app
