#include "benchmarks/peers/eigen_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/peers/eigen.hpp"
#include "benchmarks/peers/eigen_matrix.hpp"

namespace bench {
namespace {

apart rows(const float* data, std::ptrdiff_t count, const head_of& h, std::ptrdiff_t row) {
  return {const_cast<float*>(data), count, h.depth, Eigen::OuterStride<>(row)};
}

}  // namespace

void attend(const head_of& h, const floats& scores, const floats& query) {
  const float scale = 1 / std::sqrt(static_cast<float>(h.depth));
  for (std::ptrdiff_t i = 0; i < h.n; i += query_rows) {
    const std::ptrdiff_t count = std::min(query_rows, h.n - i);
    const std::ptrdiff_t keys = h.causal ? i + count : h.n;
    dense<> q(query.data(), count, h.depth), s(scores.data(), count, keys);
    q = rows(h.q + i * h.row, count, h, h.row) * scale;
    s.noalias() = q * rows(h.k, keys, h, h.row).transpose();
    row_vector<query_rows> sums;
    for (std::ptrdiff_t r = 0; r < count; ++r) {
      const std::ptrdiff_t seen = h.causal ? i + r + 1 : keys;
      auto row = s.row(r).head(seen).array();
      row = (row - row.maxCoeff()).exp();
      sums[r] = row.sum();
      s.row(r).tail(keys - seen).setZero();
    }
    apart y = rows(h.y + i * h.y_row, count, h, h.y_row);
    y.noalias() = s * rows(h.v, keys, h, h.row);
    for (std::ptrdiff_t r = 0; r < count; ++r) y.row(r) *= 1 / sums[r];
  }
}

contender eigen::attention(const attention_task& t) {
  const floats y(t.q.size()), scores(static_cast<std::size_t>(query_rows * t.n)),
      query(static_cast<std::size_t>(query_rows * t.depth));
  const auto run = [t, y, scores, query] {
    const std::ptrdiff_t row = t.heads * t.depth;
    for (std::ptrdiff_t h = 0; h < t.heads; ++h) {
      const std::ptrdiff_t first = h * t.depth;
      attend({t.q.data() + first, t.k.data() + first, t.v.data() + first, row, y.data() + first,
              row, t.n, t.depth, t.causal},
             scores, query);
    }
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

}  // namespace bench
