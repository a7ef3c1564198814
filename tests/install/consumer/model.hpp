#pragma once

#include <weft/model.hpp>

struct Rows : weft::axis<3> {};
struct Columns : weft::axis<weft::up_to<100>> {};

struct sums {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Columns>(s.input<"x", float, Rows, Columns>() * s.param<"weight", Columns>());
  }
};

struct Batch : weft::axis<weft::up_to<4>> {};

struct product {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Columns>();
    return weft::as<"loss">(weft::mean<Batch>(weft::dot<Columns>(x, s.param<"weight", Columns>())));
  }
};
