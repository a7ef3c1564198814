// Random words by the vector: weft/kernels/philox.hpp says what they are.
#if defined(WEFT_LIB_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_LIB_PHILOX_INL_H_
#undef WEFT_LIB_PHILOX_INL_H_
#else
#define WEFT_LIB_PHILOX_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t most_words = 16;  // of a vector
using word_tag = hn::CappedTag<std::uint32_t, most_words>;
using word_vec = hn::Vec<word_tag>;

// What all counters of a dropout have in common, with the key of each round.
struct word_source {
  word_source(const random_state& from, std::uint32_t dropout_salt)
      : salt(dropout_salt), step(from.step) {
    auto k0 = static_cast<std::uint32_t>(from.seed),
         k1 = static_cast<std::uint32_t>(from.seed >> 32);
    for (int r = 0; r < philox::rounds; ++r) {
      key[r][0] = k0;
      key[r][1] = k1;
      k0 += philox::weyl[0];
      k1 += philox::weyl[1];
    }
  }

  std::uint64_t key[philox::rounds][2];
  std::uint64_t salt, step;
};

// The products of the lower halves.
template <class D, class V>
HWY_INLINE V multiply_words(D d, V a, V b) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    const V lower = hn::Set(d, 0xffffffffu);
    return hn::Mul(hn::And(a, lower), hn::And(b, lower));
  } else {
    const hn::RepartitionToNarrow<D> words;
    return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
  }
}

// A lane of 64 bits has a word of a counter in the lower half, and anything in the upper one.
template <class D, class V>
HWY_INLINE void philox_round(D d, const std::uint64_t (&key)[2], V& c0, V& c1, V& c2, V& c3) {
  const V p0 = multiply_words(d, c0, hn::Set(d, philox::multiplier[0]));
  const V p1 = multiply_words(d, c2, hn::Set(d, philox::multiplier[1]));
  c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, key[0]));
  c1 = p1;
  c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, key[1]));
  c3 = p0;
}

// A word of counters whose even lanes are in one vector and whose odd lanes are in another.
template <class D, class V>
HWY_INLINE hn::Vec<D> join_words(D words, V even, V odd) {
  return hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(odd)), hn::BitCast(words, even));
}

// The four words of each lane's counter.
template <class V>
HWY_INLINE void random_words_of(const word_source& from, V counter, V& w0, V& w1, V& w2, V& w3) {
  const hn::DFromV<V> words;
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    const hn::Rebind<std::uint64_t, decltype(words)> d;
    auto c0 = hn::PromoteTo(d, counter), c1 = hn::Set(d, from.salt);
    auto c2 = hn::Set(d, from.step), c3 = hn::Set(d, from.step >> 32);
    for (const auto& key : from.key) philox_round(d, key, c0, c1, c2, c3);
    w0 = hn::TruncateTo(words, c0);
    w1 = hn::TruncateTo(words, c1);
    w2 = hn::TruncateTo(words, c2);
    w3 = hn::TruncateTo(words, c3);
  } else {
    const hn::RepartitionToWide<decltype(words)> d;
    auto even0 = hn::BitCast(d, counter), odd0 = hn::ShiftRight<32>(even0);
    auto even1 = hn::Set(d, from.salt), odd1 = even1;
    auto even2 = hn::Set(d, from.step), odd2 = even2;
    auto even3 = hn::Set(d, from.step >> 32), odd3 = even3;
    for (const auto& key : from.key) {
      philox_round(d, key, even0, even1, even2, even3);
      philox_round(d, key, odd0, odd1, odd2, odd3);
    }
    w0 = join_words(words, even0, odd0);
    w1 = join_words(words, even1, odd1);
    w2 = join_words(words, even2, odd2);
    w3 = join_words(words, even3, odd3);
  }
}

// Those of two counters: a round takes long, but not where there are registers for another.
template <class V>
HWY_INLINE void random_words_of(const word_source& from, V first, V second, V& v0, V& v1, V& v2,
                                V& v3, V& w0, V& w1, V& w2, V& w3) {
  if constexpr (has_32_registers) {
    const hn::DFromV<V> words;
    const hn::RepartitionToWide<decltype(words)> d;
    auto a0 = hn::BitCast(d, first), b0 = hn::ShiftRight<32>(a0);
    auto c0 = hn::BitCast(d, second), d0 = hn::ShiftRight<32>(c0);
    auto a1 = hn::Set(d, from.salt), b1 = a1, c1 = a1, d1 = a1;
    auto a2 = hn::Set(d, from.step), b2 = a2, c2 = a2, d2 = a2;
    auto a3 = hn::Set(d, from.step >> 32), b3 = a3, c3 = a3, d3 = a3;
    for (const auto& key : from.key) {
      philox_round(d, key, a0, a1, a2, a3);
      philox_round(d, key, b0, b1, b2, b3);
      philox_round(d, key, c0, c1, c2, c3);
      philox_round(d, key, d0, d1, d2, d3);
    }
    v0 = join_words(words, a0, b0), w0 = join_words(words, c0, d0);
    v1 = join_words(words, a1, b1), w1 = join_words(words, c1, d1);
    v2 = join_words(words, a2, b2), w2 = join_words(words, c2, d2);
    v3 = join_words(words, a3, b3), w3 = join_words(words, c3, d3);
  } else {
    random_words_of(from, first, v0, v1, v2, v3);
    random_words_of(from, second, w0, w1, w2, w3);
  }
}

// The word of each lane's number.
HWY_INLINE word_vec random_words_at(const word_source& from, word_vec number) {
  const word_tag d;
  word_vec w0, w1, w2, w3;
  random_words_of(from, hn::ShiftRight<2>(number), w0, w1, w2, w3);
  const auto odd = hn::TestBit(number, hn::Set(d, 1u)), upper = hn::TestBit(number, hn::Set(d, 2u));
  return hn::IfThenElse(upper, hn::IfThenElse(odd, w3, w2), hn::IfThenElse(odd, w1, w0));
}

// first, first + step, …
HWY_INLINE word_vec numbers_from(std::uint32_t first, std::uint32_t step) {
  const word_tag d;
  return hn::Add(hn::Set(d, first), hn::Mul(hn::Iota(d, 0), hn::Set(d, step)));
}

// The room that random_words needs for n of them.
constexpr std::size_t random_words_room(std::size_t n) {
  return n + 4 * (1 + 2 * most_words);
}

// The random words of the elements with the numbers first, first + step, …; `room` has
// random_words_room(n). Gives where they are in that.
HWY_INLINE const std::uint32_t* random_words(const word_source& from, std::uint32_t first,
                                             std::uint32_t step, std::size_t n,
                                             std::uint32_t* room) {
  const word_tag d;
  const std::size_t lanes = hn::Lanes(d);
  if (step == 1) {  // four neighbours share a counter
    const std::size_t skipped = first % 4;
    word_vec counter = numbers_from(first / 4, 1);
    const word_vec more = hn::Set(d, static_cast<std::uint32_t>(lanes));
    for (std::size_t i = 0; i < skipped + n; i += 8 * lanes) {
      const word_vec next = hn::Add(counter, more);
      word_vec v0, v1, v2, v3, w0, w1, w2, w3;
      random_words_of(from, counter, next, v0, v1, v2, v3, w0, w1, w2, w3);
      hn::StoreInterleaved4(v0, v1, v2, v3, d, room + i);
      hn::StoreInterleaved4(w0, w1, w2, w3, d, room + i + 4 * lanes);
      counter = hn::Add(next, more);
    }
    return room + skipped;
  }
  word_vec number = numbers_from(first, step);
  for (std::size_t i = 0; i < n; i += lanes) {
    hn::StoreU(random_words_at(from, number), d, room + i);
    number = hn::Add(number, hn::Set(d, static_cast<std::uint32_t>(lanes) * step));
  }
  return room;
}

// x, and 0 where the words say that an element is dropped.
template <class D>
HWY_INLINE hn::Vec<D> drop(D d, hn::Vec<hn::RebindToUnsigned<D>> words, std::uint32_t below,
                           hn::Vec<D> x) {
  const hn::RebindToSigned<D> integers;
  const auto upper_bits = hn::BitCast(integers, hn::ShiftRight<8>(words));
  const auto dropped = hn::Lt(upper_bits, hn::Set(integers, static_cast<std::int32_t>(below)));
  return hn::IfThenZeroElse(hn::RebindMask(d, dropped), x);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
