#pragma once

#include "toy.hpp"

namespace toy {

struct dot_product {
  constexpr auto operator()(weft::scope s) const {
    auto queries = s.input<"queries", float, Batch, Query, KeyDim>();
    auto keys = s.input<"keys", float, Batch, Key, KeyDim>();
    return pooled(s, weft::dot<KeyDim>(queries, keys) / weft::sqrt(KeyDim{}));
  }
};

}  // namespace toy
