// Earlier names, for one release.
#pragma once

#include "weft/nn/attention.hpp"
#include "weft/nn/cache.hpp"
#include "weft/nn/decoder.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/position/encoding.hpp"

namespace weft::nn {

template <class Pos, class... Batch>
[[deprecated("write nn::decode_state")]] constexpr auto decoding(scope s, const auto&... count) {
  return decode_state<Pos, Batch...>(s, count...);
}
template <class Cache>
[[deprecated("write nn::kv_cache")]] constexpr auto cached(scope s, const auto& at, const auto& k,
                                                           const auto& v) {
  return kv_cache<Cache>(s, at, k, v);
}
template <class Cache>
[[deprecated("write nn::causal_cache_mask")]] constexpr auto seen(const auto& at) {
  return causal_cache_mask<Cache>(at);
}
[[deprecated("write nn::position_ids")]] constexpr auto places(const auto& at) {
  return position_ids(at);
}
template <class Pos, class Embed>
[[deprecated("write nn::add_positions")]] constexpr auto positioned(scope s, const auto& x,
                                                                    const auto&... more) {
  return add_positions<Pos, Embed>(s, x, more...);
}
template <class Pos, encoding_like P>
[[deprecated("write nn::for_queries")]] constexpr auto along(const P& position_encoding) {
  return for_queries<Pos>(position_encoding);
}
template <class Pos, class KeyPos, expression At>
[[deprecated("write nn::positions_in_attention")]] constexpr auto places_in_attention(
    const At& at, double scale) {
  return positions_in_attention<Pos, KeyPos>(at, scale);
}

template <class Pos, class Offset, class Count>
using progress [[deprecated("write nn::cache_position")]] = cache_position<Pos, Offset, Count>;
template <class Pos, class KeyPos, class At>
using attention_places [[deprecated("write nn::attention_positions")]] =
    attention_positions<Pos, KeyPos, At>;
template <class Pos, class P>
using encoding_along [[deprecated("write nn::query_encoding")]] = query_encoding<Pos, P>;
template <class Output, class Weights>
using attended [[deprecated("write nn::attention_output")]] = attention_output<Output, Weights>;
template <class Output, class Weights, class MemoryWeights>
using decoded [[deprecated("write nn::decoder_output")]] =
    decoder_output<Output, Weights, MemoryWeights>;
using nothing [[deprecated("write nn::no_term")]] = no_term;

}  // namespace weft::nn
