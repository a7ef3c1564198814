#pragma once

#include "toy.hpp"

namespace toy {

struct Hidden : weft::axis<8> {};

struct additive {
  constexpr auto operator()(weft::scope s) const {
    auto queries = s.input<"queries", float, Batch, Query, QueryDim>();
    auto keys = s.input<"keys", float, Batch, Key, KeyDim>();
    return pooled(s, weft::nn::additive_score<QueryDim, KeyDim, Hidden>(s, queries, keys));
  }
};

}  // namespace toy
