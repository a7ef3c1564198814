// Operations on the scores of one vector of queries for some keys: a row for each key, with the
// queries in the lanes.
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
#include "kernels/bias_block.hpp"
#include "kernels/transpose-inl.h"
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

// s <- cap * tanh(s), for scores that are already divided by the cap.
inline HWY_NOINLINE void cap_scores(const score_rows& s, float soft_cap) {
  const query_tag d;
  const auto cap = hn::Set(d, soft_cap);
  for (std::size_t j = 0; j < s.keys; ++j)
    hn::StoreU(hn::Mul(cap, math::tanh(d, hn::LoadU(d, s.row(j)))), d, s.row(j));
}

// s <- s + addend_of(key). An addend of -infinity masks out the key, whatever its score.
template <class F>
HWY_INLINE void add_to_scores(const score_rows& s, F addend_of) {
  const query_tag d;
  const auto hidden = hn::Set(d, minus_infinity);
  for (std::size_t j = 0; j < s.keys; ++j) {
    const auto b = addend_of(static_cast<std::ptrdiff_t>(j));
    const auto sum = hn::Add(hn::LoadU(d, s.row(j)), b);
    hn::StoreU(hn::IfThenElse(hn::Eq(b, hidden), hidden, sum), d, s.row(j));
  }
}

// Transposes a bias: to[j * lanes + i] is that of key j and query i.
inline HWY_NOINLINE void side_by_side(const bias_block<const float>& bias, std::ptrdiff_t queries,
                                      std::ptrdiff_t keys, float* to) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto put = [&](index_range some) {
    for (std::ptrdiff_t j = some.begin; j < some.end; ++j)
      for (std::ptrdiff_t i = 0; i < queries; ++i) to[j * lanes + i] = bias.at(i, j);
  };
  const auto repeat = [&](index_range some) HWY_ATTR {
    if (some.begin >= some.end) return;
    put({some.begin, some.begin + 1});
    const auto same = hn::LoadU(d, to + some.begin * lanes);
    for (std::ptrdiff_t j = some.begin + 1; j < some.end; ++j) hn::StoreU(same, d, to + j * lanes);
  };
  const index_range within = bias.within({0, keys}, queries);
  // Every query has a row's first element for keys before `first`, and its last one from `last` on.
  const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(-bias.place, 0, within.begin);
  const std::ptrdiff_t last =
      std::clamp(bias.last + 1 - bias.place + bias.step * (queries - 1), within.end, keys);
  repeat({0, first});
  put({first, within.begin});
  if (within.begin < within.end)
    transpose<row_end::filled>(
        d,
        {bias.data + (bias.place + within.begin) * bias.column, bias.row - bias.step * bias.column,
         bias.column, static_cast<std::size_t>(queries), static_cast<std::size_t>(within.size())},
        1, to + within.begin * lanes, lanes);
  put({within.end, last});
  repeat({last, keys});
}

// One row's elements in reverse, from that of query 0 and the last key on: the elements of one key
// and a vector of queries are then contiguous.
inline HWY_NOINLINE void falling(const bias_block<const float>& bias, std::ptrdiff_t keys,
                                 float* to) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const std::ptrdiff_t count = keys + lanes - 1, top = bias.place + keys - 1;
  std::ptrdiff_t x = std::clamp<std::ptrdiff_t>(top - bias.last, 0, count);
  const std::ptrdiff_t end = std::clamp(top + 1, x, count);
  std::fill_n(to, x, bias.data[bias.last * bias.column]);
  if (bias.column == 1)
    for (; x + lanes <= end; x += lanes)
      hn::StoreU(hn::Reverse(d, hn::LoadU(d, bias.data + top - x - (lanes - 1))), d, to + x);
  for (; x < end; ++x) to[x] = bias.data[(top - x) * bias.column];
  std::fill_n(to + end, count - end, bias.data[0]);
}

// `addend` has capacity for a vector for each key, and one more.
inline HWY_NOINLINE void add_bias(const score_rows& s, const bias_block<const float>& bias,
                                  std::size_t queries, float* addend) {
  const query_tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto keys = static_cast<std::ptrdiff_t>(s.keys);
  if (bias.row != 0) {
    side_by_side(bias, static_cast<std::ptrdiff_t>(queries), keys, addend);
    add_to_scores(s, [=](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(d, addend + j * lanes); });
  } else if (bias.step == 0) {
    add_to_scores(
        s, [=](std::ptrdiff_t j) HWY_ATTR { return hn::Set(d, bias.data[j * bias.column]); });
  } else {
    falling(bias, keys, addend);
    add_to_scores(s,
                  [=](std::ptrdiff_t j) HWY_ATTR { return hn::LoadU(d, addend + keys - 1 - j); });
  }
}

// Scores become -infinity where the mask is 0. Where the mask is contiguous along the keys, four
// keys at a time: `bytes`, which has capacity for a vector for each key, gets four bytes of each
// query as one lane.
inline HWY_NOINLINE void hide_masked(const score_rows& s, const score_mask& mask,
                                     std::size_t queries, float* bytes) {
  const query_tag d;
  const hn::RebindToUnsigned<query_tag> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto hidden = hn::Set(d, minus_infinity);
  constexpr std::size_t together = 4;
  using four_bytes = std::array<std::uint8_t, together>;
  constexpr std::uint32_t byte_of[together]{
      std::bit_cast<std::uint32_t>(four_bytes{0xff}),
      std::bit_cast<std::uint32_t>(four_bytes{0, 0xff}),
      std::bit_cast<std::uint32_t>(four_bytes{0, 0, 0xff}),
      std::bit_cast<std::uint32_t>(four_bytes{0, 0, 0, 0xff})};
  const std::size_t whole = mask.key == 1 && mask.query != 0 ? s.keys / together * together : 0;
  if (whole != 0 && queries < lanes) std::fill_n(bytes, whole / together * lanes, 0.0f);
  for (std::size_t i = 0; i < queries; ++i) {
    const std::uint8_t* from = mask.data + static_cast<std::ptrdiff_t>(i) * mask.query;
    float* to = bytes + i;
    for (std::size_t j = 0; j < whole; j += together, to += lanes)
      std::memcpy(to, from + j, together);
  }
  const std::ptrdiff_t pitch = s.pitch;
  float* scores = s.data;
  for (std::size_t j = 0; j < whole; j += together, bytes += lanes) {
    const auto all = hn::BitCast(du, hn::LoadU(d, bytes));
    for (const std::uint32_t own : byte_of) {
      const auto is_hidden =
          hn::RebindMask(d, hn::Eq(hn::And(all, hn::Set(du, own)), hn::Zero(du)));
      hn::StoreU(hn::IfThenElse(is_hidden, hidden, hn::LoadU(d, scores)), d, scores);
      scores += pitch;
    }
  }
  for (std::size_t j = whole; j < s.keys; ++j) {
    const std::uint8_t* seen = mask.data + static_cast<std::ptrdiff_t>(j) * mask.key;
    float* row = s.row(j);
    if (mask.query == 0) {
      if (*seen == 0) hn::StoreU(hidden, d, row);
      continue;
    }
    for (std::size_t i = 0; i < queries; ++i, seen += mask.query)
      row[i] = *seen == 0 ? minus_infinity : row[i];
  }
}

// Scores become -infinity except where lowest <= j - i <= highest, for key j and query i.
inline HWY_NOINLINE void hide_outside(const score_rows& s, std::ptrdiff_t lowest,
                                      std::ptrdiff_t highest) {
  const query_tag d;
  const auto lane = hn::Iota(d, 0);
  const auto hidden = hn::Set(d, minus_infinity);
  // Where bounds are so large that floats are not exact, all lanes are on one side of them.
  auto first = hn::Set(d, static_cast<float>(-highest));
  auto last = hn::Set(d, static_cast<float>(-lowest));
  float* row = s.data;
  const std::ptrdiff_t pitch = s.pitch;
  for (std::size_t j = s.keys; j != 0; --j, row += pitch) {
    const auto seen = hn::And(hn::Ge(lane, first), hn::Le(lane, last));
    hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, row), hidden), d, row);
    first = hn::Add(first, hn::Set(d, 1.0f));
    last = hn::Add(last, hn::Set(d, 1.0f));
  }
}

// Zeroes rows next to the scores which a register tile also reads: keys that only some of its
// queries see. `before` and `behind` are the numbers of such rows.
inline void clear_beside(const score_rows& s, std::ptrdiff_t before, std::ptrdiff_t behind) {
  constexpr std::ptrdiff_t most = max_product_rows - 1;
  const query_tag d;
  const auto keys = static_cast<std::ptrdiff_t>(s.keys);
  const auto clear = [&](std::ptrdiff_t j)
                         HWY_ATTR { hn::StoreU(hn::Zero(d), d, s.data + j * s.pitch); };
  for (std::ptrdiff_t j = -std::min(before, most); j < 0; ++j) clear(j);
  for (std::ptrdiff_t j = keys; j < keys + std::min(behind, most); ++j) clear(j);
}

// The online softmax state of a vector of queries.
struct running {
  float* highest;  // running maximum m of the scores
  float* sum;      // running sum of 2 * exp(s - m)
  float* factor;   // exp(m_old - m), which rescales earlier results
};

// Online softmax update (Milakov and Gimelshein 2018, algorithm 3): the scores become 2 * exp(s -
// m), and the running values include them.
inline HWY_NOINLINE void exponentiate(const score_rows& s, const running& r) {
  const query_tag d;
  const std::ptrdiff_t pitch = s.pitch;
  const auto before = hn::Load(d, r.highest);
  auto top0 = before, top1 = before, top2 = before, top3 = before;
  const float* next = s.data;
  const auto larger = [=](const float* at)
                          HWY_ATTR { return hn::Max(hn::LoadU(d, at), hn::LoadU(d, at + pitch)); };
  std::size_t j = s.keys;
  for (; j >= 8; j -= 8, next += 8 * pitch) {
    top0 = hn::Max(top0, larger(next));
    top1 = hn::Max(top1, larger(next + 2 * pitch));
    top2 = hn::Max(top2, larger(next + 4 * pitch));
    top3 = hn::Max(top3, larger(next + 6 * pitch));
  }
  for (; j != 0; --j, next += pitch) top0 = hn::Max(top0, hn::LoadU(d, next));
  const auto top = hn::Max(hn::Max(top0, top1), hn::Max(top2, top3));
  auto sum = hn::Zero(d);
  float* row = s.data;
  constexpr int together = 4;
  using several = bundle<query_tag, together>;
  for (j = s.keys; j >= together; j -= together, row += together * pitch) {
    auto e =
        several::of([=](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, row + i * pitch), top); });
    e = math::twice_exp(d, e);
    e.map_indexed([=](query_vec v, int i) HWY_ATTR {
      hn::StoreU(v, d, row + i * pitch);
      return v;
    });
    sum = hn::Add(sum, e.combine([](query_vec x, query_vec y) HWY_ATTR { return hn::Add(x, y); }));
  }
  for (; j != 0; --j, row += pitch) {
    const auto e = math::twice_exp(d, hn::Sub(hn::LoadU(d, row), top));
    hn::StoreU(e, d, row);
    sum = hn::Add(sum, e);
  }
  const auto factor = hn::Mul(hn::Set(d, 0.5f), math::twice_exp(d, hn::Sub(before, top)));
  hn::Store(factor, d, r.factor);
  hn::Store(hn::MulAdd(hn::Load(d, r.sum), factor, sum), d, r.sum);
  hn::Store(top, d, r.highest);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
