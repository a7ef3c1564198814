#pragma once

#include "toy.hpp"

namespace toy {

struct gaussian {
  constexpr auto operator()(weft::scope s) const {
    auto queries = s.input<"queries", float, Batch, Query, KeyDim>();
    auto keys = s.input<"keys", float, Batch, Key, KeyDim>();
    return pooled(s, weft::nn::gaussian_score<KeyDim>(queries, keys));
  }
};

}  // namespace toy
