#include "weft/nn/cache.hpp"

#include "weft/nn/causal_block.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Cache : weft::axis<weft::up_to<1024>> {};
struct cached_axes : axes {
  using cache = Cache;
};
constexpr cache_position<Pos, integers<Batch>, all_positions> at{};

void wrong(weft::scope s) {
  // errors: nn::decode_state: name the axis of the positions, then those of the batch, as in
  // decode_state<Pos, Batch>(s)
  decode_state<Pos, Pos>(s);
  decode_state<Pos, Batch, int>(s);
  // error: nn::decode_state: name the axis of the positions, then those of the batch, as in
  // decode_state<Pos, Batch>(s, count)
  decode_state<Pos, Batch, int>(s, integers<Batch>{});
  // error: nn::decode_state: the count is not int32
  decode_state<Pos, Batch>(s, floats<Batch>{});
  // error: nn::decode_state: the count has an axis that is none of the batch
  decode_state<Pos, Batch>(s, tokens);
  // errors: nn::kv_cache: name the cache's axis, which keys and values do not have, as in
  // kv_cache<Cache>(s, at, k, v)
  kv_cache<Heads>(s, at, query, query);
  kv_cache<int>(s, at, query, query);
  // error: nn::kv_cache: keys and values have the axis of the run's positions
  kv_cache<Cache>(s, at, query, key);
  // errors: nn::kv_cache: keys and values have all axes of the batch
  kv_cache<Cache>(s, at, floats<Pos, HeadDim>{}, query);
  kv_cache<Cache>(s, at, floats<Pos, HeadDim>{}, floats<Pos, HeadDim>{});
  // error: nn::causal_block: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  causal_block<cached_axes>(s, floats<Batch, Pos>{}, at);
  // error: nn::causal_block: an operand lacks the axis of its role; see fault<>
  // note: roles::positions
  causal_block<cached_axes>(s, floats<Batch, Embed>{}, at);
  // error: nn::causal_block: an operand has the axis of a role already; see fault<>
  // note: roles::cache
  causal_block<cached_axes>(s, floats<Batch, Pos, Cache, Embed>{}, at);
  // error: nn::causal_block: an operand is not float; convert with weft::cast<float>
  causal_block<cached_axes>(s, integers<Batch, Pos, Embed>{}, at);
  // error: nn::causal_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  causal_attention<cached_axes>(s, floats<Batch, Pos>{}, at);
  // error: nn::causal_attention: an operand lacks the axis of its role; see fault<>
  // note: roles::positions
  causal_attention<cached_axes>(s, floats<Batch, Embed>{}, at);
  // error: nn::causal_attention: an operand has the axis of a role already; see fault<>
  // note: roles::cache
  causal_attention<cached_axes>(s, floats<Batch, Pos, Cache, Embed>{}, at);
  // error: nn::causal_attention: an operand is not float; convert with weft::cast<float>
  causal_attention<cached_axes>(s, integers<Batch, Pos, Embed>{}, at);
  // error: nn::causal_layer: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  causal_layer<cached_axes>(s, floats<Batch, Pos>{}, at);
  // error: nn::causal_layer: an operand lacks the axis of its role; see fault<>
  // note: roles::positions
  causal_layer<cached_axes>(s, floats<Batch, Embed>{}, at);
  // error: nn::causal_layer: an operand has the axis of a role already; see fault<>
  // note: roles::cache
  causal_layer<cached_axes>(s, floats<Batch, Pos, Cache, Embed>{}, at);
  // error: nn::causal_layer: an operand is not float; convert with weft::cast<float>
  causal_layer<cached_axes>(s, integers<Batch, Pos, Embed>{}, at);
}
