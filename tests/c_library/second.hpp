#pragma once
#include <weft/model.hpp>

struct Pos : weft::axis<weft::up_to<8>> {};
struct Padded : weft::axis<weft::up_to<10>> {};
struct Class : weft::axis<2> {};

// Without parameters, and with a result whose length is no argument.
struct model {
  constexpr auto operator()(weft::scope s) const {
    return weft::pad<Pos, Padded, weft::padding{.left = 2}>(s.input<"x", float, Pos, Class>());
  }
};
