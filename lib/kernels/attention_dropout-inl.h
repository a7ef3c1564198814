// Dropout of attention's weights. Its random words are counter-based: drawn again wherever they are
// needed, not stored.
#if defined(WEFT_KERNELS_ATTENTION_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_DROPOUT_INL_H_
#undef WEFT_KERNELS_ATTENTION_DROPOUT_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_DROPOUT_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "kernels/attention_scores-inl.h"
#include "kernels/philox-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

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
