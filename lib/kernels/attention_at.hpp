// An attention's operands at one index of its batch loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/visible.hpp"
#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// A matrix in an operand.
template <class T>
struct slice {
  T* data = nullptr;  // null where there is no such operand
  std::ptrdiff_t row = 0, column = 0;

  T* at(std::ptrdiff_t i, std::ptrdiff_t j) const { return data + i * row + j * column; }
};

// The indices of the batch loops, counted from 0.
inline std::ptrdiff_t batch_size(const attention_call& c) {
  std::ptrdiff_t size = 1;
  for (int l = 0; l < attention_loops(c.loops).query; ++l) size *= c.extent[l];
  return size;
}

struct attention_at {
  slice<const float> query, key, value, bias;
  slice<const std::uint8_t> mask;
  const float* relative = nullptr;
  slice<float> result, statistics;
  std::ptrdiff_t first_number = 0;  // of the weights
  kernels::band band;
  std::ptrdiff_t keys = 0;  // that a length leaves

  attention_at() = default;
  attention_at(const attention_call& c, std::ptrdiff_t batch) {
    const attention_loops loop(c.loops);
    std::ptrdiff_t index[max_loops];
    for (int l = loop.query - 1; l >= 0; --l) {
      index[l] = batch % c.extent[l];
      batch /= c.extent[l];
    }
    const auto offset_of = [&](const operand& o) {
      std::ptrdiff_t offset = 0;
      for (int l = 0; l < loop.query; ++l) offset += index[l] * o.stride[l];
      return offset;
    };
    const auto find = [&]<class T>(slice<T>& to, const operand& o, int row, int column) {
      if (o.data != nullptr)
        to = {static_cast<T*>(o.data) + offset_of(o), o.stride[row], o.stride[column]};
    };
    find(query, c.query, loop.query, loop.depth);
    find(key, c.key, loop.key, loop.depth);
    find(value, c.value, loop.key, loop.value);
    find(mask, c.mask, loop.query, loop.key);
    find(bias, c.bias, loop.query, loop.key);
    find(result, c.result, loop.query, loop.value);
    find(statistics, c.statistics, loop.query, loop.query);
    slice<const float> distances;
    find(distances, c.relative, loop.query, loop.key);
    relative = distances.data;
    first_number = offset_of(c.numbers);
    slice<const std::int32_t> offset, length;
    find(offset, c.offset, loop.query, loop.query);
    find(length, c.lengths, loop.query, loop.query);
    band = band_at(c, offset.data);
    keys = keys_at(c, length.data);
  }
};

}  // namespace weft::kernels
