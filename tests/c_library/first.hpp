#pragma once
#include <weft/model.hpp>

// Its name, and those of its axes, are those of second.hpp, too.
struct Batch : weft::axis<weft::up_to<4>> {};
struct Pos : weft::axis<weft::up_to<32>> {};
struct Class : weft::axis<3> {};
struct Embed : weft::axis<8> {};

// A running sum of what it is given, for those sequences that it is to keep.
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::nn::linear<Embed, weft::shape<Class>>(s / "head",
                                                         s.input<"x", float, Batch, Pos, Embed>());
    auto total = s.state<"total", float, Batch, Class>();
    auto keep = s.input<"keep", bool, Batch>();
    auto sum = total + weft::where(keep, weft::sum<Pos>(y), 0.0f);
    s.update(total, sum);
    return weft::results(weft::as<"y">(y), weft::as<"default">(sum));
  }
};
