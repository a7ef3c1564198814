#include "weft/ops/sources.hpp"

#include "words.hpp"

using namespace words;

template <class T>
concept makes_constant = requires(T value) {
  weft::constant(value);
};
template <class A>
concept has_positions = requires {
  weft::positions<A>();
};
template <class... Axes>
concept has_length = requires {
  weft::length<Axes...>();
};

// Sources are fragments: they belong to no graph yet.
static_assert(is<decltype(weft::constant(1.0f)), weft::fragment<float, weft::shape<>, 1>>);
static_assert(
    is<decltype(weft::positions<Pos>()), weft::fragment<std::int32_t, weft::shape<Pos>, 1>>);
static_assert(is<decltype(weft::length<Pos, Batch>()), weft::fragment<float, weft::shape<>, 1>>);
static_assert(has_length<> && has_length<KeyPos>);

static_assert(makes_constant<float> && makes_constant<bool> && makes_constant<std::int32_t>);
static_assert(!makes_constant<double> && !makes_constant<long>);
static_assert(has_positions<Pos> && !has_positions<int> && !has_positions<weft::shape<Pos>>);
static_assert(!has_length<int> && !has_length<Pos, int> && !has_length<weft::shape<Pos>>);
