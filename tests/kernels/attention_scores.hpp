// The scores and weights of attention in double, one query at a time, from the definition in
// weft/kernels/attention.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/arrays.hpp"
#include "weft/kernels/attention.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::kernels {

// Calls f with each index of the batch and the queries; the other indices are 0.
template <class F>
void for_queries(const attention_call& c, F f) {
  const unsigned others = ~0u << attention_loops(c.loops).key;
  for_points(without({c.extent, c.extent + c.loops}, others), f);
}

// The index of a query, with those of a key, of the depth and of the values.
inline extents with_key(extents index, std::ptrdiff_t key, std::ptrdiff_t depth = 0,
                        std::ptrdiff_t value = 0) {
  const std::size_t n = index.size();
  index[n - 3] = key, index[n - 2] = depth, index[n - 1] = value;
  return index;
}

// The position of a key relative to that of the query. Beyond all indices it is the least or the
// greatest one, as the edges of a band without limits are.
inline std::int64_t distance_of(const attention_call& c, const extents& index) {
  const attention_loops loop(c.loops);
  const double first = c[role::offset].data != nullptr ? get(c[role::offset], index) : 0;
  return std::clamp<std::int64_t>(std::int64_t{index[static_cast<std::size_t>(loop.key)]} -
                                      index[static_cast<std::size_t>(loop.query)] -
                                      c.attention.visible.offset - static_cast<std::int64_t>(first),
                                  PTRDIFF_MIN, PTRDIFF_MAX);
}
// The index of the relative bias that is added for a query and a key.
inline extents looked_up(const attention_call& c, extents index) {
  index[index.size() - 3] = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(
      distance_of(c, index) + c.attention.origin, 0, c.attention.distances - 1));
  return index;
}

// A query's scores, with their softmax weights and log-sum-exp.
struct score_row {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct score {
    bool hidden = false;   // then all but `kept` is 0
    double products = 0;   // the sum of the magnitudes of query * key * scale
    double tanh = 0;       // of the score divided by soft_cap
    double biases = 0;     // the sum of the magnitudes of the biases
    double all = 0;        // the score with soft_cap and biases
    double magnitude = 0;  // of the terms that add up to `all`
    double kept = 1;       // dropout's factor of the weight
    double weight = 0;
  };
  std::vector<score> keys;
  double sink = -infinity;
  double total = 0;  // the sum of the exponentials of the differences to the greatest score
  double statistics = -infinity;
};

static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "tests: scores_of does not use an operand of attention");
inline score_row::score score_of(const attention_call& c, const extents& index) {
  score_row::score s;
  if (c.attention.drop.threshold > 0) {
    const auto number = static_cast<std::uint32_t>(offset(c[role::element_ids], index));
    const std::uint32_t word = random_word(c.random, c.attention.drop.stream, number);
    s.kept = is_dropped(word, c.attention.drop.threshold)
                 ? 0
                 : 1 / (1 - c.attention.drop.threshold * 0x1p-24);
  }
  const std::int64_t distance = distance_of(c, index);
  const double bias = c[role::bias].data != nullptr ? get(c[role::bias], index) : 0;
  const double relative =
      c[role::relative].data != nullptr ? get(c[role::relative], looked_up(c, index)) : 0;
  s.hidden = distance < c.attention.visible.lowest || distance > c.attention.visible.highest ||
             (c[role::begins].data != nullptr &&
              static_cast<double>(index[index.size() - 3]) < get(c[role::begins], index)) ||
             (c[role::lengths].data != nullptr &&
              static_cast<double>(index[index.size() - 3]) >= get(c[role::lengths], index)) ||
             (c[role::mask].data != nullptr && get(c[role::mask], index) == 0) ||
             bias == -score_row::infinity || relative == -score_row::infinity;
  if (s.hidden) return s;  // its key may be NaN
  double x = 0;
  const int depth = attention_loops(c.loops).depth;
  const line query(c[role::query], depth, index), key(c[role::key], depth, index);
  for (std::ptrdiff_t d = 0; d < c.extent[depth]; ++d) {
    const double product = c.scale * query[d] * key[d];
    x += product;
    s.products += std::abs(product);
  }
  if (c.scalar != 0) {
    s.tanh = std::tanh(x / c.scalar);
    x = c.scalar * s.tanh;
  }
  s.magnitude = std::abs(x);
  for (const double more : {bias, relative}) {
    x += more;
    s.biases += std::abs(more);
    if (more != 0) s.magnitude += std::abs(x);
  }
  s.all = x;
  return s;
}

inline score_row scores_of(const attention_call& c, const extents& index) {
  score_row row;
  double highest = -score_row::infinity;
  row.keys.reserve(static_cast<std::size_t>(c.extent[c.loops - 3]));
  for (std::ptrdiff_t j = 0; j < c.extent[c.loops - 3]; ++j) {
    row.keys.push_back(score_of(c, with_key(index, j)));
    if (!row.keys.back().hidden) highest = std::max(highest, row.keys.back().all);
  }
  row.sink = c[role::sink].data != nullptr ? get(c[role::sink], index) : -score_row::infinity;
  highest = std::max(highest, row.sink);
  for (const auto& s : row.keys)
    if (!s.hidden) row.total += std::exp(s.all - highest);
  if (row.sink != -score_row::infinity) row.total += std::exp(row.sink - highest);
  if (row.total == 0) return row;
  row.statistics = highest + std::log(row.total);
  for (auto& s : row.keys)
    if (!s.hidden) s.weight = std::exp(s.all - row.statistics);
  return row;
}

}  // namespace weft::kernels
