// Vectorized Philox: the random words that weft/kernels/philox.hpp defines.
#if defined(WEFT_LIB_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_LIB_PHILOX_INL_H_
#undef WEFT_LIB_PHILOX_INL_H_
#else
#define WEFT_LIB_PHILOX_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "kernels/philox_schedule.hpp"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

inline constexpr std::size_t max_word_lanes = 16;  // lanes of a vector
using word_tag = hn::CappedTag<std::uint32_t, max_word_lanes>;
using word_vec = hn::Vec<word_tag>;

// The word in each lane. Lanes of 64 bits have words in their lower halves; the upper ones are
// unspecified.
template <class D>
HWY_INLINE hn::Vec<D> each_word(D d, std::uint32_t word) {
  if constexpr (HWY_TARGET == HWY_SCALAR)
    return hn::Set(d, word);
  else
    return hn::BitCast(d, hn::Set(hn::RepartitionToNarrow<D>(), word));
}

// The products of the lower halves. opaque() hides from clang 14 that the upper halves of some do
// not matter: it would use a multiplication of 64 bits, three instructions' work.
template <class D, class V>
HWY_INLINE V multiply_words(D d, V a, V b) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    const V lower = hn::Set(d, 0xffffffffu);
    return hn::Mul(hn::And(a, lower), hn::And(b, lower));
  } else {
    const hn::RepartitionToNarrow<D> words;
    return hn::MulEven(hn::BitCast(words, opaque(a)), hn::BitCast(words, b));
  }
}

// words ^ key. As floats on AVX2, or g++ would delay this XOR, and the one after it in the
// dependency chain would wait for it.
template <class D, class V>
HWY_INLINE V with_key(D d, V words, std::uint32_t key) {
#if HWY_TARGET == HWY_AVX2
  const hn::Repartition<float, D> df;
  return hn::BitCast(d, hn::Xor(hn::BitCast(df, words), hn::BitCast(df, each_word(d, key))));
#else
  return hn::Xor(words, each_word(d, key));
#endif
}

// A counter in each lane of 64 bits: the words that a round multiplies, and those that it XORs with
// the upper halves of the products, already XORed with their key.
template <class D>
struct philox_counters {
  hn::Vec<D> factor[2], other[2];
};

template <class D>
HWY_INLINE void philox_round(D d, const philox_schedule& from, int r, philox_counters<D>& c) {
  const auto p0 = multiply_words(d, c.factor[0], hn::Set(d, philox::multiplier[0]));
  const auto p1 = multiply_words(d, c.factor[1], hn::Set(d, philox::multiplier[1]));
  c.factor[0] = hn::Xor(c.other[0], hn::ShiftRight<32>(p1));
  c.factor[1] = hn::Xor(c.other[1], hn::ShiftRight<32>(p0));
  const bool last = r + 1 == philox::rounds;
  c.other[0] = last ? p1 : with_key(d, p1, from.key[r + 1][0]);
  c.other[1] = last ? p0 : with_key(d, p0, from.key[r + 1][1]);
}

// All rounds from r on, each for all counters. Not a loop, which would have to copy the words that
// a round only renames.
template <int r = 2, class D, class... Counters>
HWY_INLINE void philox_rounds(D d, const philox_schedule& from, Counters&... counters) {
  if constexpr (r < philox::rounds) {
    (philox_round(d, from, r, counters), ...);
    philox_rounds<r + 1>(d, from, counters...);
  }
}

// A word of counters whose even lanes are in one vector and whose odd lanes are in another.
// opaque() as in multiply_words: the odd ones may be products.
template <class D, class V>
HWY_INLINE hn::Vec<D> join_words(D words, V even, V odd) {
  return hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(opaque(odd))), hn::BitCast(words, even));
}

// The counters with these first words, after two rounds.
template <class D>
HWY_INLINE philox_counters<D> counters_of(D d, const philox_schedule& from, hn::Vec<D> first) {
  const auto p0 = multiply_words(d, first, hn::Set(d, philox::multiplier[0]));
  const auto word2 = hn::Xor(each_word(d, from.third[0]), hn::ShiftRight<32>(p0));
  const auto p1 = multiply_words(d, word2, hn::Set(d, philox::multiplier[1]));
  return {{hn::Xor(each_word(d, from.third[1]), hn::ShiftRight<32>(p1)),
           hn::Xor(each_word(d, from.third[2]), p0)},
          {with_key(d, p1, from.key[2][0]), each_word(d, from.third[3])}};
}

// The four words of each lane's counter.
template <class V>
HWY_INLINE void random_words_of(const philox_schedule& from, V counter, V& w0, V& w1, V& w2,
                                V& w3) {
  const hn::DFromV<V> words;
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    const hn::Rebind<std::uint64_t, decltype(words)> d;
    auto c = counters_of(d, from, hn::PromoteTo(d, counter));
    philox_rounds(d, from, c);
    w0 = hn::TruncateTo(words, c.factor[0]);
    w1 = hn::TruncateTo(words, c.other[0]);
    w2 = hn::TruncateTo(words, c.factor[1]);
    w3 = hn::TruncateTo(words, c.other[1]);
  } else {
    const hn::RepartitionToWide<decltype(words)> d;
    auto even = counters_of(d, from, hn::BitCast(d, counter));
    auto odd = counters_of(d, from, hn::ShiftRight<32>(hn::BitCast(d, counter)));
    philox_rounds(d, from, even, odd);
    w0 = join_words(words, even.factor[0], odd.factor[0]);
    w1 = join_words(words, even.other[0], odd.other[0]);
    w2 = join_words(words, even.factor[1], odd.factor[1]);
    w3 = join_words(words, even.other[1], odd.other[1]);
  }
}

// The same for two vectors of counters at once, which hides the latency of a round.
template <class V>
HWY_INLINE void random_words_of(const philox_schedule& from, V first, V second, V& v0, V& v1, V& v2,
                                V& v3, V& w0, V& w1, V& w2, V& w3) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    random_words_of(from, first, v0, v1, v2, v3);
    random_words_of(from, second, w0, w1, w2, w3);
  } else {
    const hn::DFromV<V> words;
    const hn::RepartitionToWide<decltype(words)> d;
    auto a = counters_of(d, from, hn::BitCast(d, first));
    auto b = counters_of(d, from, hn::ShiftRight<32>(hn::BitCast(d, first)));
    auto e = counters_of(d, from, hn::BitCast(d, second));
    auto f = counters_of(d, from, hn::ShiftRight<32>(hn::BitCast(d, second)));
    philox_rounds(d, from, a, b, e, f);
    v0 = join_words(words, a.factor[0], b.factor[0]),
    w0 = join_words(words, e.factor[0], f.factor[0]);
    v1 = join_words(words, a.other[0], b.other[0]), w1 = join_words(words, e.other[0], f.other[0]);
    v2 = join_words(words, a.factor[1], b.factor[1]),
    w2 = join_words(words, e.factor[1], f.factor[1]);
    v3 = join_words(words, a.other[1], b.other[1]), w3 = join_words(words, e.other[1], f.other[1]);
  }
}

// The random word of each lane's element id.
HWY_INLINE word_vec random_words_at(const philox_schedule& from, word_vec id) {
  const word_tag d;
  word_vec w0, w1, w2, w3;
  random_words_of(from, hn::ShiftRight<2>(id), w0, w1, w2, w3);
  const auto odd = hn::TestBit(id, hn::Set(d, 1u)), upper = hn::TestBit(id, hn::Set(d, 2u));
  return hn::IfThenElse(upper, hn::IfThenElse(odd, w3, w2), hn::IfThenElse(odd, w1, w0));
}

// first, first + step, …
HWY_INLINE word_vec ids_from(std::uint32_t first, std::uint32_t step) {
  const word_tag d;
  return hn::Add(hn::Set(d, first), hn::Mul(hn::Iota(d, 0), hn::Set(d, step)));
}

// All words of a counter and the next ones, n or more.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void store_words_from(const philox_schedule& from, std::uint32_t counter, std::size_t n,
                                 std::uint32_t* to) {
  const word_tag words;
  for (std::size_t i = 0; i < n; i += 4) {
    word_vec w0, w1, w2, w3;
    random_words_of(from, hn::Set(words, counter++), w0, w1, w2, w3);
    hn::StoreInterleaved4(w0, w1, w2, w3, words, to + i);
  }
}
#else
// Stores the words of a vector of counters: first those in the lower lanes of blocks of 128 bits.
template <class D>
HWY_INLINE void store_words(D d, const philox_counters<D>& c, std::uint32_t* to) {
  const hn::RepartitionToNarrow<D> words;
  const auto first = hn::BitCast(d, join_words(words, c.factor[0], c.other[0]));
  const auto second = hn::BitCast(d, join_words(words, c.factor[1], c.other[1]));
  hn::StoreU(hn::BitCast(words, hn::InterleaveLower(d, first, second)), words, to);
  hn::StoreU(hn::BitCast(words, hn::InterleaveUpper(d, first, second)), words,
             to + hn::Lanes(words));
}
// Eight vectors of words per iteration, which hides the latency of a round.
HWY_INLINE void store_words_from(const philox_schedule& from, std::uint32_t counter, std::size_t n,
                                 std::uint32_t* to) {
  const hn::RepartitionToWide<word_tag> d;
  const std::size_t lanes = hn::Lanes(d);
  // 0, lanes / 2, 1, lanes / 2 + 1, …
  const auto order = hn::ShiftRight<1>(hn::InterleaveLower(d, hn::Iota(d, 0), hn::Iota(d, lanes)));
  const auto more = hn::Set(d, lanes);
  auto c0 = hn::Add(each_word(d, counter), order);
  for (std::size_t i = 0; i < n; i += 16 * lanes) {
    const auto c1 = hn::Add(c0, more), c2 = hn::Add(c1, more), c3 = hn::Add(c2, more);
    auto w0 = counters_of(d, from, c0), w1 = counters_of(d, from, c1);
    auto w2 = counters_of(d, from, c2), w3 = counters_of(d, from, c3);
    philox_rounds(d, from, w0, w1, w2, w3);
    store_words(d, w0, to + i);
    store_words(d, w1, to + i + 4 * lanes);
    store_words(d, w2, to + i + 8 * lanes);
    store_words(d, w3, to + i + 12 * lanes);
    c0 = hn::Add(c3, more);
  }
}
#endif

// The size of random_words' buffer for n words.
constexpr std::size_t random_words_capacity(std::size_t n) {
  return n + 4 * (1 + 2 * max_word_lanes);
}

// The random words of the elements with ids first, first + step, …, written to `buffer`, which has
// random_words_capacity(n) words. Returns a pointer into it.
HWY_INLINE const std::uint32_t* random_words(const philox_schedule& from, std::uint32_t first,
                                             std::uint32_t step, std::size_t n,
                                             std::uint32_t* buffer) {
  const word_tag d;
  const std::size_t lanes = hn::Lanes(d);
  if (step == 1) {  // four consecutive ids share a counter
    const std::size_t skipped = first % 4;
    store_words_from(from, first / 4, skipped + n, buffer);
    return buffer + skipped;
  }
  word_vec id = ids_from(first, step);
  for (std::size_t i = 0; i < n; i += lanes) {
    hn::StoreU(random_words_at(from, id), d, buffer + i);
    id = hn::Add(id, hn::Set(d, static_cast<std::uint32_t>(lanes) * step));
  }
  return buffer;
}

// x, or 0 in lanes whose word drops the element.
template <class D>
HWY_INLINE hn::Vec<D> drop(D d, hn::Vec<hn::RebindToUnsigned<D>> words, std::uint32_t threshold,
                           hn::Vec<D> x) {
  const hn::RebindToSigned<D> integers;
  const auto upper_bits = hn::BitCast(integers, hn::ShiftRight<8>(words));
  const auto kept = hn::Gt(upper_bits, hn::Set(integers, static_cast<std::int32_t>(threshold) - 1));
  return hn::IfThenElseZero(hn::RebindMask(d, kept), x);
}

// Drops elements by their words; both arrays have room for full vectors.
inline HWY_NOINLINE void drop_elements(const std::uint32_t* words, std::uint32_t threshold,
                                       std::ptrdiff_t count, float* x) {
  const word_tag dw;
  const hn::Rebind<float, word_tag> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::ptrdiff_t j = 0; j < count; j += lanes)
    hn::StoreU(drop(d, hn::LoadU(dw, words + j), threshold, hn::LoadU(d, x + j)), d, x + j);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
