// Attention of one head by hand, for the case of attention and for that of a layer.
#pragma once

#include <cstddef>

#include "benchmarks/floats.hpp"

namespace bench {

// Where the rows of a head lie: `row` floats apart.
struct head_of {
  const float *q, *k, *v;
  std::ptrdiff_t row;
  float* y;
  std::ptrdiff_t y_row;
  std::ptrdiff_t n, depth;
  bool causal;
};

// Rows of queries that are done at once.
inline constexpr std::ptrdiff_t query_rows = 64;

// `scores` has room for query_rows * n, `query` for query_rows * depth.
void attend(const head_of& head, const floats& scores, const floats& query);

}  // namespace bench
