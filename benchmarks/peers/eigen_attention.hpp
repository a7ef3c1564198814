// Attention of one head, written with Eigen, for the cases of attention and of an encoder layer.
#pragma once

#include <cstddef>

#include "benchmarks/floats.hpp"

namespace bench {

// One head: its rows have a stride of `row` floats, y's of `y_row`.
struct head_of {
  const float *q, *k, *v;
  std::ptrdiff_t row;
  float* y;
  std::ptrdiff_t y_row;
  std::ptrdiff_t n, depth;
  bool causal;
};

// Queries per block.
inline constexpr std::ptrdiff_t query_rows = 64;

// `scores` is scratch of query_rows * n floats, `query` of query_rows * depth.
void attend(const head_of& head, const floats& scores, const floats& query);

}  // namespace bench
