#pragma once

#include <weft/model.hpp>

namespace regression {

struct Point : weft::axis<50> {};
struct Known : weft::axis<50> {};
struct Dim : weft::axis<1> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Point, Dim>();
    auto known_x = s.input<"known x", float, Known, Dim>();
    auto known_y = s.input<"known y", float, Known>();
    auto seen = weft::nn::attention<Known>(weft::nn::gaussian_score<Dim>(x, known_x), known_y);
    return weft::results(weft::as<"y">(seen.output), weft::as<"weights">(seen.weights));
  }
};

}  // namespace regression
