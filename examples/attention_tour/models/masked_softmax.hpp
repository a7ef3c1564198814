#pragma once

#include <weft/model.hpp>

namespace masked_softmax {

struct Batch : weft::axis<2> {};
struct Query : weft::axis<2> {};
struct Key : weft::axis<4> {};

// One length for each sequence, [Batch], or for each of its queries, [Batch, Query].
template <class... Lengths>
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto scores = s.input<"scores", float, Batch, Query, Key>();
    auto lengths = s.input<"lengths", std::int32_t, Lengths...>();
    return weft::nn::masked_softmax<Key>(scores, lengths);
  }
};

}  // namespace masked_softmax
