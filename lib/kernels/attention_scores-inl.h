// Operations on the scores of one vector of queries for some keys: a row for each key, with the
// queries in the lanes. Dropout draws its random words, which are counter-based, again wherever
// they are needed, and stores none.
#if defined(WEFT_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_SCORES_INL_H_
#undef WEFT_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/attention_products-inl.h"
#include "kernels/attention_view.hpp"
#include "kernels/philox-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// The running maximum before any score: finite, so that -infinity minus it is -infinity and not
// NaN.
constexpr float lowest_score = std::numeric_limits<float>::lowest();

struct score_rows {
  float* data;
  std::ptrdiff_t pitch;  // stride of the keys' rows
  std::size_t keys;

  HWY_INLINE float* row(std::size_t j) const {
    return data + static_cast<std::ptrdiff_t>(j) * pitch;
  }
};

// A boolean mask, from the scores' first query and key on.
struct score_mask {
  const std::uint8_t* data;
  std::ptrdiff_t query, key;  // strides
};

// Whether all elements of `rows` rows of results are finite.
inline HWY_NOINLINE bool rows_are_finite(const float* row, std::ptrdiff_t pitch, std::size_t rows,
                                         std::size_t width) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  auto a = zero, b = zero, c = zero, f = zero;  // sums of 0 * x: NaN if any x is not finite
  for (; rows != 0; --rows, row += pitch) {
    std::size_t e = 0;
    for (; e + 4 * lanes <= width; e += 4 * lanes) {
      a = hn::MulAdd(zero, hn::LoadU(d, row + e), a);
      b = hn::MulAdd(zero, hn::LoadU(d, row + e + lanes), b);
      c = hn::MulAdd(zero, hn::LoadU(d, row + e + 2 * lanes), c);
      f = hn::MulAdd(zero, hn::LoadU(d, row + e + 3 * lanes), f);
    }
    for (; e + lanes <= width; e += lanes) a = hn::MulAdd(zero, hn::LoadU(d, row + e), a);
    if (e < width) b = hn::MulAdd(zero, load_n(d, row + e, width - e), b);
  }
  return hn::AllTrue(d, hn::Eq(hn::Add(hn::Add(a, b), hn::Add(c, f)), zero));
}

// s <- cap * tanh(s), for scores that are already divided by the cap.
inline HWY_NOINLINE void cap_scores(const score_rows& s, float soft_cap) {
  const query_tag d;
  const auto cap = hn::Set(d, soft_cap);
  for (std::size_t j = 0; j < s.keys; ++j)
    hn::StoreU(hn::Mul(cap, math::tanh(d, hn::LoadU(d, s.row(j)))), d, s.row(j));
}

// s <- s + bias_of(key). A bias of -infinity masks out the key, whatever its score.
template <class F>
HWY_INLINE void add_to_scores(const score_rows& s, F bias_of) {
  const query_tag d;
  const auto masked = hn::Set(d, minus_infinity);
  for (std::size_t j = 0; j < s.keys; ++j) {
    const auto b = bias_of(static_cast<std::ptrdiff_t>(j));
    const auto sum = hn::Add(hn::LoadU(d, s.row(j)), b);
    hn::StoreU(hn::IfThenElse(hn::Eq(b, masked), masked, sum), d, s.row(j));
  }
}

// Transposes a bias: to[j * lanes + i] is that of key j and query i.
inline HWY_NOINLINE void transpose_bias(const bias_tile<const float>& bias, std::ptrdiff_t queries,
                                        std::ptrdiff_t keys, float* to) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto copy_keys = [&](index_range range) {
    for (std::ptrdiff_t j = range.begin; j < range.end; ++j)
      for (std::ptrdiff_t i = 0; i < queries; ++i) to[j * lanes + i] = bias.at(i, j);
  };
  const auto repeat_key = [&](index_range range) HWY_ATTR {
    if (range.begin >= range.end) return;
    copy_keys({range.begin, range.begin + 1});
    const auto same = hn::LoadU(d, to + range.begin * lanes);
    for (std::ptrdiff_t j = range.begin + 1; j < range.end; ++j)
      hn::StoreU(same, d, to + j * lanes);
  };
  const index_range inner = bias.unclamped({0, keys}, queries);
  // Every query has a row's first element for keys before `first`, and its last one from `last` on.
  const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(-bias.offset, 0, inner.begin);
  const std::ptrdiff_t last =
      std::clamp(bias.last + 1 - bias.offset + bias.step * (queries - 1), inner.end, keys);
  repeat_key({0, first});
  copy_keys({first, inner.begin});
  if (inner.begin < inner.end)
    transpose<row_end::filled>(
        d,
        {bias.data + (bias.offset + inner.begin) * bias.column, bias.row - bias.step * bias.column,
         bias.column, static_cast<std::size_t>(queries), static_cast<std::size_t>(inner.size())},
        1, to + inner.begin * lanes, lanes);
  copy_keys({inner.end, last});
  repeat_key({last, keys});
}

// One row's elements in reverse, from that of query 0 and the last key on: the elements of one key
// and a vector of queries are then contiguous.
inline HWY_NOINLINE void reverse_row(const bias_tile<const float>& bias, std::ptrdiff_t keys,
                                     float* to) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const std::ptrdiff_t count = keys + lanes - 1, last_index = bias.offset + keys - 1;
  std::ptrdiff_t x = std::clamp<std::ptrdiff_t>(last_index - bias.last, 0, count);
  const std::ptrdiff_t end = std::clamp(last_index + 1, x, count);
  std::fill_n(to, x, bias.data[bias.last * bias.column]);
  if (bias.column == 1)
    for (; x + lanes <= end; x += lanes)
      hn::StoreU(hn::Reverse(d, hn::LoadU(d, bias.data + last_index - x - (lanes - 1))), d, to + x);
  for (; x < end; ++x) to[x] = bias.data[(last_index - x) * bias.column];
  std::fill_n(to + end, count - end, bias.data[0]);
}

// `bias_rows` has capacity for a vector for each key, and one more.
inline HWY_NOINLINE void add_bias(const score_rows& s, const bias_tile<const float>& bias,
                                  std::size_t queries, float* bias_rows) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto keys = static_cast<std::ptrdiff_t>(s.keys);
  if (bias.row != 0) {
    transpose_bias(bias, static_cast<std::ptrdiff_t>(queries), keys, bias_rows);
    add_to_scores(s,
                  [=](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(d, bias_rows + j * lanes); });
  } else if (bias.step == 0) {
    add_to_scores(
        s, [=](std::ptrdiff_t j) HWY_ATTR { return hn::Set(d, bias.data[j * bias.column]); });
  } else {
    reverse_row(bias, keys, bias_rows);
    add_to_scores(
        s, [=](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(d, bias_rows + keys - 1 - j); });
  }
}

// Scores become -infinity where the mask is 0. Where the mask is contiguous along the keys, four
// keys at a time: `bytes`, which has capacity for a vector for each key, gets four bytes of each
// query as one lane.
inline HWY_NOINLINE void apply_mask(const score_rows& s, const score_mask& mask,
                                    std::size_t queries, float* bytes) {
  const query_tag d;
  const hn::RebindToUnsigned<query_tag> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto masked = hn::Set(d, minus_infinity);
  constexpr std::size_t unroll = 4;
  using byte_mask = std::array<std::uint8_t, unroll>;
  constexpr std::uint32_t byte_of[unroll]{std::bit_cast<std::uint32_t>(byte_mask{0xff}),
                                          std::bit_cast<std::uint32_t>(byte_mask{0, 0xff}),
                                          std::bit_cast<std::uint32_t>(byte_mask{0, 0, 0xff}),
                                          std::bit_cast<std::uint32_t>(byte_mask{0, 0, 0, 0xff})};
  const std::size_t full = mask.key == 1 && mask.query != 0 ? s.keys / unroll * unroll : 0;
  if (full != 0 && queries < lanes) std::fill_n(bytes, full / unroll * lanes, 0.0f);
  for (std::size_t i = 0; i < queries; ++i) {
    const std::uint8_t* from = mask.data + static_cast<std::ptrdiff_t>(i) * mask.query;
    float* to = bytes + i;
    for (std::size_t j = 0; j < full; j += unroll, to += lanes) std::memcpy(to, from + j, unroll);
  }
  const std::ptrdiff_t pitch = s.pitch;
  float* scores = s.data;
  for (std::size_t j = 0; j < full; j += unroll, bytes += lanes) {
    const auto all = hn::BitCast(du, hn::LoadU(d, bytes));
    for (const std::uint32_t byte : byte_of) {
      const auto is_masked =
          hn::RebindMask(d, hn::Eq(hn::And(all, hn::Set(du, byte)), hn::Zero(du)));
      hn::StoreU(hn::IfThenElse(is_masked, masked, hn::LoadU(d, scores)), d, scores);
      scores += pitch;
    }
  }
  for (std::size_t j = full; j < s.keys; ++j) {
    const std::uint8_t* visible = mask.data + static_cast<std::ptrdiff_t>(j) * mask.key;
    float* row = s.row(j);
    if (mask.query == 0) {
      if (*visible == 0) hn::StoreU(masked, d, row);
      continue;
    }
    for (std::size_t i = 0; i < queries; ++i, visible += mask.query)
      row[i] = *visible == 0 ? minus_infinity : row[i];
  }
}

// Scores become -infinity except where lowest <= j - i <= highest, for key j and query i.
inline HWY_NOINLINE void apply_band(const score_rows& s, std::ptrdiff_t lowest,
                                    std::ptrdiff_t highest) {
  const query_tag d;
  const auto lane = hn::Iota(d, 0);
  const auto masked = hn::Set(d, minus_infinity);
  // Where bounds are so large that floats are not exact, all lanes are on one side of them.
  auto first = hn::Set(d, static_cast<float>(-highest));
  auto last = hn::Set(d, static_cast<float>(-lowest));
  float* row = s.data;
  const std::ptrdiff_t pitch = s.pitch;
  for (std::size_t j = s.keys; j != 0; --j, row += pitch) {
    const auto visible = hn::And(hn::Ge(lane, first), hn::Le(lane, last));
    hn::StoreU(hn::IfThenElse(visible, hn::LoadU(d, row), masked), d, row);
    first = hn::Add(first, hn::Set(d, 1.0f));
    last = hn::Add(last, hn::Set(d, 1.0f));
  }
}

// Scores become -infinity where a key is not within the limits of its query.
inline HWY_NOINLINE void apply_limits(const score_rows& s, const key_limits& limits,
                                      index_range queries, index_range keys) {
  if (limits.see_all(queries, keys)) return;
  for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i)
    limits.apply(i, keys, s.data + (i - queries.begin), s.pitch);
}

// Zeroes rows next to the scores which a register tile also reads: keys that only some of its
// queries see. `before` and `after` are the numbers of such rows.
inline void zero_padding(const score_rows& s, std::ptrdiff_t before, std::ptrdiff_t after) {
  constexpr std::ptrdiff_t most = max_product_rows - 1;
  const query_tag d;
  const auto keys = static_cast<std::ptrdiff_t>(s.keys);
  const auto clear = [&](std::ptrdiff_t j)
                         HWY_ATTR { hn::StoreU(hn::Zero(d), d, s.data + j * s.pitch); };
  for (std::ptrdiff_t j = -std::min(before, most); j < 0; ++j) clear(j);
  for (std::ptrdiff_t j = keys; j < keys + std::min(after, most); ++j) clear(j);
}

// The online softmax state of a vector of queries.
struct online_softmax {
  float* running_max;  // running maximum m of the scores
  float* running_sum;  // running sum of 2 * exp(s - m)
  float* rescale;      // exp(m_old - m), which rescales earlier results
};

// The keys whose weights are computed together, and added to each other before they are to others.
constexpr int keys_at_once = 4;

// Online softmax update (Milakov and Gimelshein 2018, algorithm 3): the scores become 2 * exp(s -
// m), and the running values include them.
inline HWY_NOINLINE void online_softmax_update(const score_rows& s, const online_softmax& r) {
  const query_tag d;
  const std::ptrdiff_t pitch = s.pitch;
  const auto old_max = hn::Load(d, r.running_max);
  auto max0 = old_max, max1 = old_max, max2 = old_max, max3 = old_max;
  const float* next = s.data;
  const auto max_of_two = [=](const float* at) HWY_ATTR {
    return hn::Max(hn::LoadU(d, at), hn::LoadU(d, at + pitch));
  };
  std::size_t j = s.keys;
  for (; j >= 8; j -= 8, next += 8 * pitch) {
    max0 = hn::Max(max0, max_of_two(next));
    max1 = hn::Max(max1, max_of_two(next + 2 * pitch));
    max2 = hn::Max(max2, max_of_two(next + 4 * pitch));
    max3 = hn::Max(max3, max_of_two(next + 6 * pitch));
  }
  for (; j != 0; --j, next += pitch) max0 = hn::Max(max0, hn::LoadU(d, next));
  const auto max = hn::Max(hn::Max(max0, max1), hn::Max(max2, max3));
  auto sum = hn::Zero(d);
  float* row = s.data;
  constexpr int unroll = keys_at_once;
  using vectors = vec_array<query_tag, unroll>;
  for (j = s.keys; j >= unroll; j -= unroll, row += unroll * pitch) {
    auto e =
        vectors::of([=](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, row + i * pitch), max); });
    e = math::twice_exp(d, e);
    e.map_indexed([=](query_vec v, int i) HWY_ATTR {
      hn::StoreU(v, d, row + i * pitch);
      return v;
    });
    sum = hn::Add(sum, e.combine([](query_vec x, query_vec y) HWY_ATTR { return hn::Add(x, y); }));
  }
  // The last few, with weights of 0 for the others of their group: keys that are masked out after a
  // query's last one do not change its sum.
  const auto weight = [=](std::size_t i) HWY_ATTR {
    float* const at = row + static_cast<std::ptrdiff_t>(i) * pitch;
    const auto e = math::twice_exp(d, hn::Sub(hn::LoadU(d, at), max));
    hn::StoreU(e, d, at);
    return e;
  };
  if (j != 0) {
    auto last = weight(0);
    if (j > 1) last = hn::Add(last, weight(1));
    if (j > 2) last = hn::Add(last, weight(2));
    sum = hn::Add(sum, last);
  }
  const auto rescale = hn::Mul(hn::Set(d, 0.5f), math::twice_exp(d, hn::Sub(old_max, max)));
  hn::Store(rescale, d, r.rescale);
  hn::Store(hn::MulAdd(hn::Load(d, r.running_sum), rescale, sum), d, r.running_sum);
  hn::Store(max, d, r.running_max);
}

// Element ids: the first one, and the strides along queries and keys.
struct element_ids {
  std::uint32_t first, query, key;
};

// Applies dropout to rows of scores of one vector of queries.
inline HWY_NOINLINE void drop_scores(const score_rows& s, const element_ids& of,
                                     const philox_schedule& from, std::uint32_t threshold) {
  const query_tag d;
  const word_tag dw;
  const auto store = [&](std::size_t j, word_vec words) HWY_ATTR {
    if (j < s.keys) hn::StoreU(drop(d, words, threshold, hn::LoadU(d, s.row(j))), d, s.row(j));
  };
  word_vec id = ids_from(of.first, of.query);
  if (of.key != 1) {
    for (std::size_t j = 0; j < s.keys; ++j) {
      store(j, random_words_at(from, id));
      id = hn::Add(id, hn::Set(dw, of.key));
    }
    return;
  }
  // Four consecutive keys of a query share a counter, and its first key may be any of the four: a
  // lane's words begin at offset id % 4 of its first counter's words.
  const auto bit0 = hn::TestBit(id, hn::Set(dw, 1u)), bit1 = hn::TestBit(id, hn::Set(dw, 2u));
  const auto store_four = [&](std::size_t j, word_vec w0, word_vec w1, word_vec w2, word_vec w3,
                              word_vec w4, word_vec w5, word_vec w6) HWY_ATTR {
    const word_vec v0 = hn::IfThenElse(bit0, w1, w0), v1 = hn::IfThenElse(bit0, w2, w1);
    const word_vec v2 = hn::IfThenElse(bit0, w3, w2), v3 = hn::IfThenElse(bit0, w4, w3);
    const word_vec v4 = hn::IfThenElse(bit0, w5, w4), v5 = hn::IfThenElse(bit0, w6, w5);
    store(j, hn::IfThenElse(bit1, v2, v0));
    store(j + 1, hn::IfThenElse(bit1, v3, v1));
    store(j + 2, hn::IfThenElse(bit1, v4, v2));
    store(j + 3, hn::IfThenElse(bit1, v5, v3));
  };
  const word_vec one_counter = hn::Set(dw, 1u);
  word_vec counter = hn::ShiftRight<2>(id);
  word_vec u0, u1, u2, u3, v0, v1, v2, v3, w0, w1, w2, w3;
  random_words_of(from, counter, u0, u1, u2, u3);
  for (std::size_t j = 0; j < s.keys; j += 8) {
    const word_vec next = hn::Add(counter, one_counter);
    counter = hn::Add(next, one_counter);
    random_words_of(from, next, counter, v0, v1, v2, v3, w0, w1, w2, w3);
    store_four(j, u0, u1, u2, u3, v0, v1, v2);
    store_four(j + 4, v0, v1, v2, v3, w0, w1, w2);
    u0 = w0, u1 = w1, u2 = w2, u3 = w3;
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
