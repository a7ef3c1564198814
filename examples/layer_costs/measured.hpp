// The layers' costs and how they scale, computed at compile time.
#pragma once

#include <array>
#include <cmath>
#include <weft/weft.hpp>

#include "layer_costs/layers.hpp"

namespace layer_costs {

// The columns of the chapter's table, per layer.
struct layer_cost {
  double flops, sequential, path;
};
template <class Layer, class P>
inline constexpr layer_cost cost_of{weft::cost<Layer>.flops, weft::cost<Layer>.sequential,
                                    weft::path_length<Layer, P>};

// Sizes. The window is doubled on both sides, and so are the taps on both sides of the middle one.
inline constexpr int n = 512, d = 64, r = 8, k = 9;

struct row {
  const char* layer;
  layer_cost here, longer, wider, broader;  // n, d and the window doubled
  bool has_window;
};

inline constexpr std::array rows{
    row{"self-attention",
        cost_of<self_attention<n, d>, Pos<n>>,
        cost_of<self_attention<2 * n, d>, Pos<2 * n>>,
        cost_of<self_attention<n, 2 * d>, Pos<n>>,
        {},
        false},
    row{"restricted self-attention", cost_of<restricted_self_attention<n, d, r>, Pos<n>>,
        cost_of<restricted_self_attention<2 * n, d, r>, Pos<2 * n>>,
        cost_of<restricted_self_attention<n, 2 * d, r>, Pos<n>>,
        cost_of<restricted_self_attention<n, d, 2 * r>, Pos<n>>, true},
    row{"recurrent",
        cost_of<recurrent<n, d>, Pos<n>>,
        cost_of<recurrent<2 * n, d>, Pos<2 * n>>,
        cost_of<recurrent<n, 2 * d>, Pos<n>>,
        {},
        false},
    row{"convolutional", cost_of<convolutional<n, d, k>, Pos<n>>,
        cost_of<convolutional<2 * n, d, k>, Pos<2 * n>>,
        cost_of<convolutional<n, 2 * d, k>, Pos<n>>,
        cost_of<convolutional<n, d, 2 * k - 1>, Pos<n>>, true}};

// The exponent p: doubling the size multiplies the cost by 2^p.
inline double power(double once, double doubled) {
  return std::log2(doubled / once);
}

}  // namespace layer_costs
