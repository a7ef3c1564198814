// A user-defined encoding: what to write for one that the library does not have.
//
// KERPLE's logarithmic variant (Chi et al. 2022, "KERPLE: kernelized relative positional embedding
// for length extrapolation"): -r1 log(1 + r2 |i - j|) is added to the scores. Each head has its own
// r1 and r2, which are positive, learned, and initially 1.
#pragma once

#include <weft/model.hpp>

namespace positions {

struct kerple : weft::nn::encoding {
  template <class Heads, class HeadDim>
  constexpr auto scores(weft::scope s, const auto& /*query*/, const auto& where) const {
    auto r1 = exp(s.param<"log_r1", Heads>(weft::init::zeros()));
    auto r2 = exp(s.param<"log_r2", Heads>(weft::init::zeros()));
    return weft::nn::by_distance(where, [&](auto distance) {
      auto far = weft::cast<float>(maximum(distance, -distance));
      return -r1 * log(1 + r2 * far);
    });
  }
};

}  // namespace positions
