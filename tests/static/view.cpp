#include "weft/ops/view.hpp"

#include "words.hpp"

using namespace words;

// rename
struct Channels : weft::axis<384> {};
static_assert(is<decltype(weft::rename<Pos, KeyPos>(x)), floats<Batch, KeyPos, Embed>>);
static_assert(is<decltype(weft::rename<Embed, Channels>(x)), floats<Batch, Pos, Channels>>);
static_assert(is<decltype(weft::rename<Pos, Pos>(x)), floats<Batch, Pos, Embed>>);

// split
struct Blocks : weft::axis<weft::up_to<128>> {};
struct Four : weft::axis<4> {};
static_assert(
    is<decltype(weft::split<Embed, Heads, HeadDim>(x)), floats<Batch, Pos, Heads, HeadDim>>);
static_assert(is<decltype(weft::split<Pos, Blocks, Four>(x)), floats<Batch, Blocks, Four, Embed>>);

// merge
static_assert(is<decltype(weft::merge<Embed, Heads, HeadDim>(query)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::merge<Embed, HeadDim, Heads>(query)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::merge<Pos, Blocks, Four>(floats<Four, Batch, Blocks>{})),
                 floats<Batch, Pos>>);

// slice
struct Tail : weft::axis<weft::up_to<412>> {};
static_assert(is<decltype(weft::slice<Embed, HeadDim, 64>(x)), floats<Batch, Pos, HeadDim>>);
static_assert(is<decltype(weft::slice<Pos, Tail, 100>(x)), floats<Batch, Tail, Embed>>);
static_assert(is<decltype(weft::slice<Embed, HeadDim, 320>(x)), floats<Batch, Pos, HeadDim>>);
static_assert(is<decltype(weft::slice<Pos, Four>(x)), floats<Batch, Four, Embed>>);
static_assert(is<decltype(weft::slice<Pos, Pos>(x)), floats<Batch, Pos, Embed>>);

struct OneMore : weft::axis<1> {};
static_assert(is<decltype(weft::unsqueeze<OneMore>(x)), floats<OneMore, Batch, Pos, Embed>>);
static_assert(is<decltype(weft::squeeze<OneMore>(integers<Batch, OneMore>{})), integers<Batch>>);
static_assert(
    is<decltype(std::get<5>(weft::unstack<Heads>(query))), floats<Batch, Pos, HeadDim>&&>);
static_assert(is<decltype(weft::stop_gradient(x)), floats<Batch, Pos, Embed>>);
