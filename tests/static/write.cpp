#include "weft/ops/write.hpp"

#include "words.hpp"

using namespace words;

struct Cache : weft::axis<weft::up_to<1024>> {};
constexpr floats<Batch, Cache, Heads, HeadDim> buffer{};
constexpr integers<Batch> at{};

// The result has the axes of the buffer.
static_assert(
    is<decltype(weft::write<Cache, Pos>(buffer, query, at)), floats<Batch, Cache, Heads, HeadDim>>);
static_assert(is<decltype(weft::write<Cache, Pos>(buffer, query, at, integers<>{})),
                 floats<Batch, Cache, Heads, HeadDim>>);
static_assert(is<decltype(weft::write<Cache, Pos>(buffer, floats<HeadDim, Pos>{},
                                                  integers<Heads, Batch>{}, at)),
                 floats<Batch, Cache, Heads, HeadDim>>);
