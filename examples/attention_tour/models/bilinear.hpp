#pragma once

#include "toy.hpp"

namespace toy {

struct bilinear {
  constexpr auto operator()(weft::scope s) const {
    auto queries = s.input<"queries", float, Batch, Query, QueryDim>();
    auto keys = s.input<"keys", float, Batch, Key, KeyDim>();
    return pooled(s, weft::nn::bilinear_score<QueryDim, KeyDim>(s, queries, keys));
  }
};

}  // namespace toy
