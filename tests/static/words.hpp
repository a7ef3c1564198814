// Axes and tensors shared by the static tests.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/graph/tensor.hpp"

namespace words {

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};
struct Hidden : weft::axis<16> {};
struct Vocab : weft::axis<1000> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

template <class... Axes>
using floats = weft::tensor<float, weft::shape<Axes...>>;
template <class... Axes>
using integers = weft::tensor<std::int32_t, weft::shape<Axes...>>;
template <class... Axes>
using masks = weft::tensor<bool, weft::shape<Axes...>>;

inline constexpr floats<Batch, Pos, Embed> x{};
inline constexpr floats<Embed, Heads, HeadDim> w{};
inline constexpr floats<Batch, Pos, Heads, HeadDim> query{};
inline constexpr floats<Batch, KeyPos, Heads, HeadDim> key{};
inline constexpr floats<Embed> gain{};
inline constexpr integers<Batch, Pos> tokens{};
inline constexpr masks<KeyPos, Pos> causal{};

// five and five_more have nine distinct axes together, one more than a tensor may have.
template <int N>
struct Level : weft::axis<N + 2> {};
template <class T>
inline constexpr weft::tensor<T, weft::shape<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>>>
    five{};
template <class T>
inline constexpr weft::tensor<T, weft::shape<Level<4>, Level<5>, Level<6>, Level<7>, Level<8>>>
    five_more{};

template <class Result, class Expected>
concept is = std::same_as<Result, Expected>;
template <class Expected, class... Results>
concept are = (std::same_as<Results, Expected> && ...);

}  // namespace words
