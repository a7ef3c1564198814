#include "weft/ops/write.hpp"

#include "words.hpp"

using namespace words;

struct Cache : weft::axis<weft::up_to<1024>> {};
constexpr floats<Batch, Cache, Heads, HeadDim> buffer{};
constexpr integers<Batch> at{};

template <class A, class P>
constexpr auto writes = [](auto b, auto r, auto... i) {
  return requires {
    weft::write<A, P>(b, r, i...);
  };
};

// The result has the axes of the buffer.
static_assert(
    is<decltype(weft::write<Cache, Pos>(buffer, query, at)), floats<Batch, Cache, Heads, HeadDim>>);
static_assert(is<decltype(weft::write<Cache, Pos>(buffer, query, at, integers<>{})),
                 floats<Batch, Cache, Heads, HeadDim>>);
static_assert(writes<Cache, Pos>(buffer, query, at));
static_assert(writes<Cache, Pos>(buffer, floats<HeadDim, Pos>{}, integers<Heads, Batch>{}, at));
static_assert(!writes<Vocab, Pos>(buffer, query, at));     // the buffer has no such axis
static_assert(!writes<Cache, KeyPos>(buffer, query, at));  // the rows have no KeyPos
static_assert(!writes<Cache, Heads>(buffer, query, at));   // the buffer has Heads
static_assert(!writes<Cache, Pos>(buffer, tokens, at));    // dtype
static_assert(!writes<Cache, Pos>(buffer, x, at));         // other axes of the rows
static_assert(!writes<Cache, Pos>(buffer, query) && !writes<Cache, Pos>(buffer, query, at, at, at));
static_assert(!writes<Cache, Pos>(buffer, query, floats<Batch>{}));      // positions are not int32
static_assert(!writes<Cache, Pos>(buffer, query, at, floats<Batch>{}));  // positions are not int32
static_assert(!writes<Cache, Pos>(buffer, query, integers<Batch, Pos>{}));  // axes of positions
static_assert(!writes<Cache, Pos>(buffer, query, at, integers<Cache>{}));   // axes of positions
