#include "weft/ops/sources.hpp"

#include "words.hpp"

using namespace words;

// Sources are fragments: they belong to no graph yet.
static_assert(is<decltype(weft::constant(1.0f)), weft::fragment<float, weft::shape<>, 1>>);
static_assert(
    is<decltype(weft::positions<Pos>()), weft::fragment<std::int32_t, weft::shape<Pos>, 1>>);
static_assert(is<decltype(weft::length<Pos, Batch>()), weft::fragment<float, weft::shape<>, 1>>);
static_assert(is<decltype(weft::length<>()), weft::fragment<float, weft::shape<>, 1>>);
static_assert(is<decltype(weft::constant(true)), weft::fragment<bool, weft::shape<>, 1>>);
static_assert(is<decltype(weft::constant(1)), weft::fragment<std::int32_t, weft::shape<>, 1>>);
