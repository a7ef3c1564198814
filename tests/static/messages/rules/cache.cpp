#include "weft/nn/cache.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Cache : weft::axis<weft::up_to<1024>> {};
constexpr progress<Pos, integers<Batch>, all_positions> at{};

void wrong(weft::scope s) {
  // error: nn::decoding: name the axis of the positions, then those of the batch, as in
  // decoding<Pos, Batch>(s)
  decoding<Pos, Pos>(s);
  // error: nn::decoding: name the axis of the positions, then those of the batch, as in
  // decoding<Pos, Batch>(s, count)
  decoding<Pos, Batch, int>(s, integers<Batch>{});
  // error: nn::decoding: the count is not int32
  decoding<Pos, Batch>(s, floats<Batch>{});
  // error: nn::decoding: the count has an axis that is none of the batch
  decoding<Pos, Batch>(s, tokens);
  // error: nn::cached: name the cache's axis, which keys and values do not have, as in
  // cached<Cache>(s, at, k, v)
  cached<Heads>(s, at, query, query);
  // error: nn::cached: keys and values have the axis of the run's positions
  cached<Cache>(s, at, query, key);
  // error: nn::cached: keys and values have all axes of the batch
  cached<Cache>(s, at, floats<Pos, HeadDim>{}, query);
}
