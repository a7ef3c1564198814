// Views of an attention call's operands at one index of its batch loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/band.hpp"
#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// The number of batch indices: the product of the batch loops' extents.
inline std::ptrdiff_t batch_size(const call& c) {
  std::ptrdiff_t size = 1;
  for (int l = 0; l < attention_loops(c.loops).query; ++l) size *= c.extent[l];
  return size;
}

// Batch index n, as an index in each batch loop; the last loop is the fastest.
struct batch_index {
  int loops = 0;
  std::ptrdiff_t index[max_loops]{};

  batch_index() = default;
  batch_index(const call& c, std::ptrdiff_t n) : loops(attention_loops(c.loops).query) {
    for (int l = loops - 1; l >= 0; --l) {
      index[l] = n % c.extent[l];
      n /= c.extent[l];
    }
  }

  std::ptrdiff_t offset(const operand& o) const {
    std::ptrdiff_t sum = 0;
    for (int l = 0; l < loops; ++l) sum += index[l] * o.stride[l];
    return sum;
  }
};

// A strided matrix in an operand: `row` and `column` are its strides.
template <class T>
struct slice {
  T* data = nullptr;  // null if the operand is absent
  std::ptrdiff_t row = 0, column = 0;

  // The matrix at a batch index, with its rows and columns along these two loops.
  void set(const operand& o, const batch_index& batch, int rows, int columns) {
    if (o.data == nullptr) return;
    data = static_cast<T*>(o.data) + batch.offset(o);
    row = o.stride[rows];
    column = o.stride[columns];
  }

  T* at(std::ptrdiff_t i, std::ptrdiff_t j) const { return data + i * row + j * column; }
  slice from(std::ptrdiff_t i, std::ptrdiff_t j) const { return {at(i, j), row, column}; }

  operator slice<const T>() const requires(!std::is_const_v<T>) { return {data, row, column}; }
};

// The keys that the begins and the lengths of queries leave visible: for each query, [begin, end).
// Lengths that all queries share are attention_view::keys instead.
class key_limits {
 public:
  key_limits() = default;
  key_limits(const call& c, const batch_index& batch) : more_(c.attention.length_more) {
    const int query = attention_loops(c.loops).query;
    const auto set = [&](const operand& o, const std::int32_t*& first, std::ptrdiff_t& step) {
      if (o.data == nullptr) return;
      first = static_cast<const std::int32_t*>(o.data) + batch.offset(o);
      step = o.stride[query];
    };
    set(operand_of(c, role::begins), begin_, begin_step_);
    if (operand_of(c, role::lengths).stride[query] != 0)
      set(operand_of(c, role::lengths), end_, end_step_);
  }

  bool any() const { return begin_ != nullptr || end_ != nullptr; }
  // What query i sees of these keys.
  index_range keys(std::ptrdiff_t i, index_range all) const {
    if (begin_ != nullptr) all.begin = std::max<std::ptrdiff_t>(all.begin, begin_[i * begin_step_]);
    if (end_ != nullptr)
      all.end = static_cast<std::ptrdiff_t>(
          std::clamp<std::int64_t>(end_[i * end_step_] + more_, PTRDIFF_MIN, all.end));
    return all;
  }
  // The range that spans the keys that at least one of the queries sees.
  index_range keys_seen_by_any(index_range queries, index_range all) const {
    if (!any()) return all;
    index_range span{all.begin, all.begin};
    for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i) {
      const index_range seen = keys(i, all);
      if (seen.empty()) continue;
      span = span.size() <= 0
                 ? seen
                 : index_range{std::min(span.begin, seen.begin), std::max(span.end, seen.end)};
    }
    return span;
  }
  // Sets to -infinity those of query i's scores of these keys that it does not see; `step` is their
  // stride.
  void apply(std::ptrdiff_t i, index_range all, float* scores, std::ptrdiff_t step) const {
    const index_range seen = keys(i, all);
    for (std::ptrdiff_t j = all.begin; j < all.end; ++j, scores += step)
      if (j < seen.begin || j >= seen.end) *scores = -std::numeric_limits<float>::infinity();
  }
  // Whether each of the queries sees all of these keys.
  bool see_all(index_range queries, index_range all) const {
    for (std::ptrdiff_t i = queries.begin; any() && i < queries.end; ++i)
      if (keys(i, all) != all) return false;
    return true;
  }

 private:
  const std::int32_t *begin_ = nullptr, *end_ = nullptr;
  std::ptrdiff_t begin_step_ = 0, end_step_ = 0;
  std::int64_t more_ = 0;  // an int32 may be added where indices have 32 bits
};

static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "kernels: attention_view does not read an operand of attention");
struct attention_view {
  slice<const float> query, key, value, bias;
  slice<const std::uint16_t> narrow_key, narrow_value;  // instead, where they are bfloat16
  slice<const std::uint8_t> mask;
  const float* relative = nullptr;
  slice<const float> sink;  // rows are queries
  slice<float> result, statistics;
  std::ptrdiff_t first_element_id =
      0;  // element id of the weight of query 0 and key 0, for dropout
  kernels::band band;
  std::ptrdiff_t keys = 0;  // keys [0, keys) are within the length that all queries share
  key_limits limits;        // of each query

  attention_view() = default;
  attention_view(const call& c, const batch_index& batch) {
    const attention_loops loop(c.loops);
    const auto set_first = [&]<class T>(T*& to, const operand& o) {
      if (o.data != nullptr) to = static_cast<T*>(o.data) + batch.offset(o);
    };
    query.set(operand_of(c, role::query), batch, loop.query, loop.depth);
    if (operand_of(c, role::key).type == dtype::bfloat16)
      narrow_key.set(operand_of(c, role::key), batch, loop.key, loop.depth);
    else
      key.set(operand_of(c, role::key), batch, loop.key, loop.depth);
    if (operand_of(c, role::value).type == dtype::bfloat16)
      narrow_value.set(operand_of(c, role::value), batch, loop.key, loop.value);
    else
      value.set(operand_of(c, role::value), batch, loop.key, loop.value);
    mask.set(operand_of(c, role::mask), batch, loop.query, loop.key);
    bias.set(operand_of(c, role::bias), batch, loop.query, loop.key);
    set_first(relative, operand_of(c, role::relative));
    sink.set(operand_of(c, role::sink), batch, loop.query, loop.query);
    result.set(operand_of(c, role::result), batch, loop.query, loop.value);
    statistics.set(operand_of(c, role::statistics), batch, loop.query, loop.query);
    first_element_id = batch.offset(operand_of(c, role::element_ids));
    const std::int32_t *offset = nullptr, *length = nullptr;
    set_first(offset, operand_of(c, role::offset));
    if (operand_of(c, role::lengths).stride[loop.query] == 0)
      set_first(length, operand_of(c, role::lengths));
    limits = key_limits(c, batch);
    band = band_at(c, offset);
    keys = keys_at(c, length);
  }
};

}  // namespace weft::kernels
