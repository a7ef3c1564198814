#pragma once

#include <weft/model.hpp>

struct Pos : weft::axis<weft::up_to<16>> {};
struct Channels : weft::axis<4> {};

struct product {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Pos>(s.input<"x", float, Pos>() * s.input<"y", float, Pos>());
  }
};

// With fixed extents, of which code is generated.
struct fixed_product {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Channels>();
    return weft::sum<Channels>(x * x);
  }
};
