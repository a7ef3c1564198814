// What attention does with the scores of one vector of queries for some keys: a row for each key,
// the queries side by side.
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
#include "kernels/transpose-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// The highest score before any is seen: finite, so that the distance of a hidden one to it is not
// NaN but -infinity.
constexpr float lowest_score = std::numeric_limits<float>::lowest();

struct score_rows {
  float* data;
  std::ptrdiff_t pitch;  // from a key's row to the next
  std::size_t keys;

  HWY_INLINE float* row(std::size_t j) const {
    return data + static_cast<std::ptrdiff_t>(j) * pitch;
  }
};

// A bias or a mask, from the scores' first query and key on.
template <class T>
struct score_operand {
  const T* data;
  std::ptrdiff_t query, key;  // strides
};

// s <- cap tanh(s), of scores that are divided by the cap already.
inline HWY_NOINLINE void cap_scores(const score_rows& s, float soft_cap) {
  const query_tag d;
  const auto cap = hn::Set(d, soft_cap);
  for (std::size_t j = 0; j < s.keys; ++j)
    hn::StoreU(hn::Mul(cap, math::tanh(d, hn::LoadU(d, s.row(j)))), d, s.row(j));
}

// A bias of -infinity hides the key, whatever its score. `addend` has room for a vector for each
// key.
inline HWY_NOINLINE void add_bias(const score_rows& s, const score_operand<float>& bias,
                                  std::size_t queries, float* addend) {
  const query_tag d;
  const std::size_t lanes = hn::Lanes(d);
  const float one = 1;
  if (bias.query != 0)
    transpose(d, {bias.data, bias.query, bias.key, queries, s.keys}, {&one, 0}, addend,
              static_cast<std::ptrdiff_t>(lanes));
  const auto hidden = hn::Set(d, minus_infinity);
  for (std::size_t j = 0; j < s.keys; ++j) {
    const auto b = bias.query != 0
                       ? hn::LoadU(d, addend + j * lanes)
                       : hn::Set(d, bias.data[static_cast<std::ptrdiff_t>(j) * bias.key]);
    const auto sum = hn::Add(hn::LoadU(d, s.row(j)), b);
    hn::StoreU(hn::IfThenElse(hn::Eq(b, hidden), hidden, sum), d, s.row(j));
  }
}

// Scores become -infinity where the mask has 0. Where keys lie side by side, four at a time: their
// bytes are put side by side with those of the other queries, in `bytes`, which has room for a
// vector for each key.
inline HWY_NOINLINE void hide_masked(const score_rows& s, const score_operand<std::uint8_t>& mask,
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
    for (std::size_t j = 0; j < whole; j += together)
      std::memcpy(bytes + j / together * lanes + i, from + j, together);
  }
  for (std::size_t j = 0; j < whole; ++j) {
    const auto own = hn::Set(du, byte_of[j % together]);
    const auto all = hn::BitCast(du, hn::LoadU(d, bytes + j / together * lanes));
    const auto is_hidden = hn::RebindMask(d, hn::Eq(hn::And(all, own), hn::Zero(du)));
    hn::StoreU(hn::IfThenElse(is_hidden, hidden, hn::LoadU(d, s.row(j))), d, s.row(j));
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

// Scores become -infinity but where lowest <= j - i <= highest, for key j and query i.
inline HWY_NOINLINE void hide_outside(const score_rows& s, std::ptrdiff_t lowest,
                                      std::ptrdiff_t highest) {
  const query_tag d;
  const auto lane = hn::Iota(d, 0);
  const auto hidden = hn::Set(d, minus_infinity);
  // Where places are so far away that floats are not exact, all lanes are on one side of them.
  auto first = hn::Set(d, static_cast<float>(-highest));
  auto last = hn::Set(d, static_cast<float>(-lowest));
  for (std::size_t j = 0; j < s.keys; ++j) {
    const auto seen = hn::And(hn::Ge(lane, first), hn::Le(lane, last));
    hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, s.row(j)), hidden), d, s.row(j));
    first = hn::Add(first, hn::Set(d, 1.0f));
    last = hn::Add(last, hn::Set(d, 1.0f));
  }
}

// Where a vector of queries stands.
struct running {
  float* highest;  // score so far
  float* sum;      // of twice the exponentials of the distances to it
  float* factor;   // exp(the highest before - the highest now)
};

// The scores become twice the exponentials of their distances to the highest, and the running
// values those that include them (Milakov and Gimelshein 2018, algorithm 3).
inline HWY_NOINLINE void exponentiate(const score_rows& s, const running& r) {
  const query_tag d;
  const std::ptrdiff_t pitch = s.pitch;
  const auto before = hn::Load(d, r.highest);
  auto top0 = before, top1 = before, top2 = before, top3 = before;
  std::size_t j = 0;
  const auto larger = [&](std::size_t i) HWY_ATTR {
    return hn::Max(hn::LoadU(d, s.row(i)), hn::LoadU(d, s.row(i + 1)));
  };
  for (; j + 8 <= s.keys; j += 8) {
    top0 = hn::Max(top0, larger(j));
    top1 = hn::Max(top1, larger(j + 2));
    top2 = hn::Max(top2, larger(j + 4));
    top3 = hn::Max(top3, larger(j + 6));
  }
  for (; j < s.keys; ++j) top0 = hn::Max(top0, hn::LoadU(d, s.row(j)));
  const auto top = hn::Max(hn::Max(top0, top1), hn::Max(top2, top3));
  auto sum = hn::Zero(d);
  float* row = s.data;
  for (j = s.keys; j != 0; --j, row += pitch) {
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
