#include "weft/ops/view.hpp"

#include "words.hpp"

using namespace words;

template <class From, class To>
constexpr auto renames = [](auto a) {
  return requires {
    weft::rename<From, To>(a);
  };
};
template <class From, class... To>
constexpr auto splits = [](auto a) {
  return requires {
    weft::split<From, To...>(a);
  };
};
template <class To, class... From>
constexpr auto merges = [](auto a) {
  return requires {
    weft::merge<To, From...>(a);
  };
};
template <class From, class To, std::size_t Start = 0>
constexpr auto slices = [](auto a) {
  return requires {
    weft::slice<From, To, Start>(a);
  };
};

// rename
struct OtherPos : weft::axis<weft::up_to<512>> {};
struct Channels : weft::axis<384> {};
static_assert(is<decltype(weft::rename<Pos, KeyPos>(x)), floats<Batch, KeyPos, Embed>>);
static_assert(is<decltype(weft::rename<Embed, Channels>(x)), floats<Batch, Pos, Channels>>);
static_assert(renames<Pos, Pos>(x));
static_assert(!renames<KeyPos, Pos>(x));                      // no such axis
static_assert(!renames<Pos, KeyPos>(floats<Pos, KeyPos>{}));  // taken
static_assert(!renames<Embed, Heads>(x));                     // length: another extent
static_assert(!renames<Pos, OtherPos>(x));                    // length: not an alias
static_assert(!renames<Pos, Channels>(x));
static_assert(!renames<Embed, int>(x) && !renames<int, Embed>(x));  // not an axis

// split
struct Blocks : weft::axis<weft::up_to<128>> {};
struct Four : weft::axis<4> {};
struct InnerPos : weft::axis<weft::up_to<4>> {};
struct FixedBlocks : weft::axis<128> {};
static_assert(
    is<decltype(weft::split<Embed, Heads, HeadDim>(x)), floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(weft::split<Pos, Blocks, Four>(x)), floats<Batch, Blocks, Four, Embed>>);
static_assert(!splits<Embed>(x));                       // no axis is named
static_assert(!splits<Embed, int, HeadDim>(x));         // not an axis
static_assert(!splits<int, Heads, HeadDim>(x));         // no such axis
static_assert(!splits<Heads, HeadDim, Four>(x));        // no such axis
static_assert(!splits<Embed, Heads, HeadDim>(query));   // no such axis
static_assert(!splits<Embed, Heads, HeadDim>(w));       // taken
static_assert(!splits<Embed, Heads, Four>(x));          // length
static_assert(!splits<Pos, FixedBlocks, InnerPos>(x));  // inner: only the inner axis is bounded
static_assert(!splits<Pos, Blocks, InnerPos>(x));       // inner: both are bounded
static_assert(!splits<Pos, FixedBlocks, Four>(x));      // inner: none is bounded
struct Nine : weft::axis<9> {};
struct Three : weft::axis<3> {};
struct AlsoThree : weft::axis<3> {};
constexpr floats<Batch, Pos, Embed, Heads, HeadDim, Vocab, Four, Nine> eight{};
static_assert(!splits<Nine, Three, AlsoThree>(eight));  // rank

// merge
static_assert(is<decltype(weft::merge<Embed, Heads, HeadDim>(query)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::merge<Embed, HeadDim, Heads>(query)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::merge<Pos, Blocks, Four>(floats<Four, Batch, Blocks>{})),
                 floats<Batch, Pos>>);
static_assert(!merges<Embed>(query));                               // no axis is named
static_assert(!merges<int, Heads, HeadDim>(query));                 // not an axis
static_assert(!merges<Embed, Heads, HeadDim>(x));                   // no such axis
static_assert(!merges<Embed, Heads, Heads>(query));                 // taken: named twice
static_assert(!merges<Embed, Heads, HeadDim>(w));                   // taken: already there
static_assert(!merges<Vocab, Heads, HeadDim>(query));               // length
static_assert(!merges<Pos, Four, Blocks>(floats<Four, Blocks>{}));  // inner
static_assert(!merges<Pos, FixedBlocks, Four>(floats<FixedBlocks, Four>{}));

// slice
struct Tail : weft::axis<weft::up_to<412>> {};
static_assert(is<decltype(weft::slice<Embed, HeadDim, 64>(x)), floats<Batch, Pos, HeadDim>>);
static_assert(is<decltype(weft::slice<Pos, Tail, 100>(x)), floats<Batch, Tail, Embed>>);
static_assert(slices<Embed, HeadDim, 320>(x) && slices<Pos, Four>(x) && slices<Pos, Pos>(x));
static_assert(!slices<Heads, Four>(x));                                // no such axis
static_assert(!slices<Embed, int>(x));                                 // not an axis
static_assert(!slices<Embed, Four, static_cast<std::size_t>(-2)>(x));  // length, without overflow
static_assert(!slices<Embed, Heads>(w));                               // taken
static_assert(!slices<Embed, HeadDim, 321>(x));                        // length
static_assert(!slices<Heads, HeadDim>(query));    // taken is reported before length
static_assert(!slices<Pos, Tail, 99>(x));         // inner: not up to the end
static_assert(!slices<Embed, InnerPos, 380>(x));  // inner: Embed's length is fixed
