#include "weft/nn/cache.hpp"

#include "words.hpp"

using namespace words;
namespace nn = weft::nn;

struct Cache : weft::axis<weft::up_to<1024>> {};
extern const weft::scope s;

using progress = decltype(nn::decode_state<Pos, Batch>(s));
static_assert(is<decltype(progress::offset), integers<Batch>>);
static_assert(is<decltype(nn::decode_state<Pos>(s).offset), integers<>>);
static_assert(
    is<decltype(nn::decode_state<Pos, Batch>(s, integers<Batch>{}).offset), integers<Batch>>);
static_assert(is<decltype(nn::decode_state<Pos, Batch, Heads>(s, integers<>{}).offset),
                 integers<Batch, Heads>>);

using rows = decltype(nn::kv_cache<Cache>(s, progress(), query, query));
static_assert(is<decltype(rows::keys), floats<Batch, Heads, Cache, HeadDim>>);
static_assert(is<decltype(nn::position_ids(progress())), integers<Pos, Batch>>);
static_assert(is<weft::shape_t<decltype(nn::causal_cache_mask<Cache>(progress()))>,
                 weft::shape<Cache, Pos, Batch>>);
