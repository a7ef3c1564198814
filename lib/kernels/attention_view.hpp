// Views of an attention call's operands at one index of its batch loops, the loops over which the
// adjoint sums its gradients, and tiles of a bias.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/band.hpp"
#include "kernels/gather_scatter.hpp"
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
  // The first of the queries and those after it, up to one that sees none of the keys between the
  // first and the last that they see: another sequence's, whose keys are then read on their own, in
  // blocks that begin with its first key, so that its results do not depend on its neighbours.
  index_range queries_with_shared_keys(index_range queries, index_range all) const {
    if (!any()) return queries;
    index_range span{};
    for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i) {
      const index_range seen = keys(i, all);
      if (seen.empty()) continue;
      if (span.empty())
        span = seen;
      else if (seen.intersect(span).empty())
        return {queries.begin, i};
      else
        span = {std::min(span.begin, seen.begin), std::max(span.end, seen.end)};
    }
    return queries;
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
  // Of the products of queries and keys; and of the argument of the soft cap's tanh.
  float scale = 1, scale_before_cap = 1;
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
    const double factor = c.scale;
    scale = static_cast<float>(factor);
    scale_before_cap = static_cast<float>(c.scalar == 0 ? factor : factor / c.scalar);
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

static_assert(handles_gradients_of_attention({role::query, role::key, role::value, role::bias,
                                              role::relative, role::sink}),
              "kernels: adjoint_view has no gradient for an operand of attention");
// The operands of the adjoint at an index of the batch loops.
struct adjoint_view : attention_view {
  slice<const float> g;
  slice<float> query_gradient, key_gradient, value_gradient, bias_gradient, sink_gradient;
  float* relative_gradient = nullptr;

  adjoint_view() = default;
  adjoint_view(const call& c, const batch_index& batch) : attention_view(c, batch) {
    const attention_loops loop(c.loops);
    g.set(operand_of(c, role::g), batch, loop.query, loop.value);
    query_gradient.set(operand_of(c, role::query_gradient), batch, loop.query, loop.depth);
    key_gradient.set(operand_of(c, role::key_gradient), batch, loop.key, loop.depth);
    value_gradient.set(operand_of(c, role::value_gradient), batch, loop.key, loop.value);
    bias_gradient.set(operand_of(c, role::bias_gradient), batch, loop.query, loop.key);
    sink_gradient.set(operand_of(c, role::sink_gradient), batch, loop.query, loop.query);
    if (operand_of(c, role::relative_gradient).data != nullptr)
      relative_gradient = static_cast<float*>(operand_of(c, role::relative_gradient).data) +
                          batch.offset(operand_of(c, role::relative_gradient));
  }
};

// A set of batch loops: bit l stands for loop l.
using batch_loops = unsigned;

// Zeroes a gradient: all elements whose index in the loops of `fixed` is that of `at`.
inline void clear(const call& c, const slot& s, const operand& gradient, batch_loops fixed,
                  const batch_index& at) {
  owning_call<> zeros;
  zeros.loops = c.loops;
  zeros.operands[0] = gradient;
  zeros.operands[0].data = static_cast<float*>(gradient.data) + at.offset(gradient);
  std::copy_n(c.extent, c.loops, zeros.extent);
  if ((s.loops & over::distance) != 0)
    zeros.extent[attention_loops(c.loops).key] = c.attention.distances;
  for (int l = 0; l < c.loops; ++l)
    if (gradient.stride[l] == 0 || (fixed >> l & 1u)) zeros.extent[l] = 1;
  zero(zeros);
}
// Zeroes the gradients for biases, to which every term of the sum is added.
inline void clear_bias_gradients(const call& c, batch_loops fixed, const batch_index& at) {
  for_each_gradient(c, [&](const slot& s, const operand& gradient) {
    if (s.is == presence::optional) clear(c, s, gradient, fixed, at);
  });
}

// Partitions divide the loops that all gradients have; the other batch loops are inside, and summed
// over.
inline batch_loops shared_loops(const call& c) {
  batch_loops all = 0;
  for (int l = 0; l < attention_loops(c.loops).query; ++l) all |= 1u << l;
  for_each_gradient(c, [&](const slot&, const operand& o) {
    for (int l = 0; l < c.loops; ++l)
      if (o.stride[l] == 0) all &= ~(1u << l);
  });
  return all;
}

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
