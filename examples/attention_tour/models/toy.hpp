#pragma once

#include <weft/model.hpp>

// Two sequences of ten keys and values, and one query for each.
namespace toy {

struct Batch : weft::axis<2> {};
struct Query : weft::axis<1> {};
struct Key : weft::axis<10> {};
struct QueryDim : weft::axis<20> {};
struct KeyDim : weft::axis<2> {};
struct ValueDim : weft::axis<4> {};

// The values, weighted by the masked softmax of the scores.
constexpr auto pooled(weft::scope s, auto scores) {
  auto values = s.input<"values", float, Batch, Key, ValueDim>();
  auto lengths = s.input<"lengths", std::int32_t, Batch>();
  auto seen = weft::nn::attention<Key>(scores, values, lengths);
  return weft::results(weft::as<"output">(seen.output), weft::as<"weights">(seen.weights));
}

}  // namespace toy
