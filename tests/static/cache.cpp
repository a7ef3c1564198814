#include "weft/nn/cache.hpp"

#include "words.hpp"

using namespace words;
namespace nn = weft::nn;

struct Cache : weft::axis<weft::up_to<1024>> {};

template <class... Axes>
constexpr auto decodes = [](auto... count) {
  return requires(weft::scope s) {
    nn::decode_state<Axes...>(s, count...);
  };
};
using progress = decltype(nn::decode_state<Pos, Batch>(std::declval<weft::scope>()));
template <class Axis>
constexpr auto caches = [](auto k, auto v) {
  return requires(weft::scope s, progress at) {
    nn::kv_cache<Axis>(s, at, k, v);
  };
};

static_assert(is<decltype(progress::offset), integers<Batch>>);
static_assert(decodes<Pos>() && decodes<Pos, Batch>() && decodes<Pos, Batch>(integers<Batch>{}));
static_assert(decodes<Pos, Batch, Heads>(integers<>{}));
static_assert(!decodes<Pos, Pos>() && !decodes<Pos, Batch, int>());  // named twice; not an axis
static_assert(!decodes<Pos, Batch>(floats<Batch>{}));                // the count is not int32
static_assert(!decodes<Pos, Batch>(tokens));  // the count has an axis that is not a batch axis

using rows = decltype(nn::kv_cache<Cache>(std::declval<weft::scope>(), progress(), query, query));
static_assert(is<decltype(rows::keys), floats<Batch, Heads, Cache, HeadDim>>);
static_assert(is<decltype(nn::position_ids(progress())), integers<Pos, Batch>>);
static_assert(is<decltype(nn::causal_cache_mask<Cache>(progress())), masks<Cache, Pos, Batch>>);
static_assert(caches<Cache>(query, query));
static_assert(!caches<Heads>(query, query) && !caches<int>(query, query));      // cache axis
static_assert(!caches<Cache>(query, key));                                      // v has no Pos
static_assert(!caches<Cache>(floats<Pos, HeadDim>{}, floats<Pos, HeadDim>{}));  // no Batch
