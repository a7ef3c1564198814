// A bias of attention where some queries meet some keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/visible.hpp"

namespace weft::kernels {

// Query i and key j, counted from the first of each, have the element place + j - step * i of row
// i, or the nearest that a row has: elements are 0 to last. A relative bias has step 1; a dense one
// 0, and its rows have all that is looked up.
template <class T>
struct bias_block {
  T* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;  // strides; with row 0 all queries have the same
  std::ptrdiff_t place = 0, step = 0;
  std::ptrdiff_t last = PTRDIFF_MAX / 4;

  std::ptrdiff_t index(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return std::clamp<std::ptrdiff_t>(place + j - step * i, 0, last);
  }
  T& at(std::ptrdiff_t i, std::ptrdiff_t j) const { return data[i * row + index(i, j) * column]; }

  // Those of `keys` whose elements none of the queries has to look for beyond a row's ends.
  index_range within(index_range keys, std::ptrdiff_t queries) const {
    const std::ptrdiff_t begin = std::clamp(step * (queries - 1) - place, keys.begin, keys.end);
    return {begin, std::clamp(last + 1 - place, begin, keys.end)};
  }

  // f(first key, count, data, stride) for pieces of query i's keys: each key has the next element
  // of the data, and with stride 0 all have the same.
  template <class F>
  void for_pieces(std::ptrdiff_t i, index_range keys, F f) const {
    bias_block own = *this;
    own.place -= step * i;
    const index_range inner = own.within(keys, 1);
    T* const from = data + i * row;
    if (keys.begin < inner.begin) f(keys.begin, inner.begin - keys.begin, from, 0);
    if (inner.begin < inner.end)
      f(inner.begin, inner.size(), from + (own.place + inner.begin) * column, column);
    if (inner.end < keys.end) f(inner.end, keys.end - inner.end, from + last * column, 0);
  }
};

// The call's relative bias, or its gradient, at an index of the batch that the data and the band
// are of, from a query and a key on.
template <class T>
bias_block<T> relative_block(const attention_call& c, T* data, const operand& o, const band& b,
                             std::ptrdiff_t query, std::ptrdiff_t key) {
  const attention_loops at(c.loops);
  const std::ptrdiff_t row = o.stride[at.query];
  return {data + query * row, row, o.stride[at.key], c.origin - b.offset + key - query, 1,
          c.distances - 1};
}

}  // namespace weft::kernels
