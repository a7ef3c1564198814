// Random words by the vector: weft/kernels/philox.hpp says what they are. A lane of 64 bits has a
// word of its counter in the lower half, and anything in the upper one.
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

inline constexpr std::size_t most_counters = 8;  // of a vector
using counters = hn::CappedTag<std::uint64_t, most_counters>;
using counter_words = hn::Rebind<std::uint32_t, counters>;

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

// The words of the counters (block, salt, step), four for each, one counter after the other.
template <class D>
HWY_INLINE void store_random_blocks(D d, const random_state& from, std::uint32_t salt,
                                    hn::Vec<D> block, std::uint32_t* to) {
  using V = hn::Vec<D>;
  const V m0 = hn::Set(d, philox::multiplier[0]);
  const V m1 = hn::Set(d, philox::multiplier[1]);
  V c0 = block, c1 = hn::Set(d, salt), c2 = hn::Set(d, from.step), c3 = hn::Set(d, from.step >> 32);
  auto k0 = static_cast<std::uint32_t>(from.seed), k1 = static_cast<std::uint32_t>(from.seed >> 32);
  for (int r = 0; r < philox::rounds; ++r) {
    const V p0 = multiply_words(d, c0, m0);
    const V p1 = multiply_words(d, c2, m1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, k0));
    c1 = p1;
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, k1));
    c3 = p0;
    k0 += philox::weyl[0];
    k1 += philox::weyl[1];
  }
  const counter_words words;
  hn::StoreInterleaved4(hn::TruncateTo(words, c0), hn::TruncateTo(words, c1),
                        hn::TruncateTo(words, c2), hn::TruncateTo(words, c3), words, to);
}

// The room that random_words needs for n of them.
constexpr std::size_t random_words_room(std::size_t n) {
  return n + 4 * (1 + most_counters);
}

// The random words of the elements with the given numbers, which are in steps of the same size;
// `room` has random_words_room(n). Gives where they are in that.
HWY_INLINE const std::uint32_t* random_words(const random_state& from, std::uint32_t salt,
                                             const std::uint32_t* numbers, std::size_t n,
                                             std::uint32_t* room) {
  const counters d;
  const std::size_t lanes = hn::Lanes(d);
  if (n < 2 || numbers[1] - numbers[0] == 1) {  // four neighbours share a counter
    const std::size_t skipped = numbers[0] % 4;
    for (std::size_t i = 0; i < skipped + n; i += 4 * lanes)
      store_random_blocks(d, from, salt, hn::Iota(d, numbers[0] / 4 + i / 4), room + i);
    return room + skipped;
  }
  for (std::size_t i = 0; i < n; i += lanes) {
    alignas(64) std::uint32_t words[4 * most_counters];
    const auto number = load_n(counter_words(), numbers + i, n - i < lanes ? n - i : lanes);
    store_random_blocks(d, from, salt, hn::PromoteTo(d, hn::ShiftRight<2>(number)), words);
    for (std::size_t l = 0; l < lanes && i + l < n; ++l)
      room[i + l] = words[4 * l + numbers[i + l] % 4];
  }
  return room;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
