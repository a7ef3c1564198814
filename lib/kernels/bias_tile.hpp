// The tile of an attention bias for a block of queries and a block of keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/band.hpp"

namespace weft::kernels {

// Query i and key j, counted from the first of each, have element clamp(offset + j - step * i, 0,
// last) of row i. A relative bias has step 1; a dense one has step 0, and its index is always in
// range.
template <class T>
struct bias_tile {
  T* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;  // strides; with row 0 all queries share a row
  std::ptrdiff_t offset = 0, step = 0;
  std::ptrdiff_t last = PTRDIFF_MAX / 4;

  std::ptrdiff_t index(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return std::clamp<std::ptrdiff_t>(offset + j - step * i, 0, last);
  }
  T& at(std::ptrdiff_t i, std::ptrdiff_t j) const { return data[i * row + index(i, j) * column]; }

  // The keys of `keys` whose element is not clamped for any of the queries.
  index_range unclamped(index_range keys, std::ptrdiff_t queries) const {
    const std::ptrdiff_t begin = std::clamp(step * (queries - 1) - offset, keys.begin, keys.end);
    return {begin, std::clamp(last + 1 - offset, begin, keys.end)};
  }

  // Calls f(first key, count, data, stride) for the pieces of query i's keys whose elements have
  // one stride: 0 where they are clamped, and all keys share an element.
  template <class F>
  void for_each_stride(std::ptrdiff_t i, index_range keys, F f) const {
    bias_tile of_query = *this;
    of_query.offset -= step * i;
    const index_range inner = of_query.unclamped(keys, 1);
    T* const from = data + i * row;
    if (keys.begin < inner.begin) f(keys.begin, inner.begin - keys.begin, from, 0);
    if (inner.begin < inner.end)
      f(inner.begin, inner.size(), from + (of_query.offset + inner.begin) * column, column);
    if (inner.end < keys.end) f(inner.end, keys.end - inner.end, from + last * column, 0);
  }
};

// The tile, from a query and a key on, of the call's relative bias or its gradient. `data` and `b`
// are those of the same batch index.
template <class T>
bias_tile<T> relative_bias_tile(const call& c, T* data, const operand& o, const band& b,
                                std::ptrdiff_t query, std::ptrdiff_t key) {
  const attention_loops at(c.loops);
  const std::ptrdiff_t row = o.stride[at.query];
  return {data + query * row,
          row,
          o.stride[at.key],
          c.attention.origin - b.offset + key - query,
          1,
          c.attention.distances - 1};
}

}  // namespace weft::kernels
