// The encodings to compare, one per line.
#pragma once

#include <string_view>
#include <tuple>
#include <weft/weft.hpp>

#include "own.hpp"

namespace positions {

// `order` creates the encoding; its scope is for parameters that all layers share. Otherwise each
// layer has its own.
template <class Order>
struct encoding_row {
  std::string_view name;
  Order order;
};
template <class Order>
encoding_row(std::string_view, Order) -> encoding_row<Order>;

namespace order = weft::nn::position;

// Sizes are those of the papers; transformer_xl distinguishes as many distances as the training
// texts have.
inline constexpr std::tuple encodings{
    encoding_row{"none", [](weft::scope) { return order::none(); }},
    encoding_row{"index", [](weft::scope) { return order::index(); }},
    encoding_row{"index/length", [](weft::scope) { return order::relative_index(); }},
    encoding_row{"sinusoidal", [](weft::scope) { return order::sinusoidal(); }},
    encoding_row{"learned", [](weft::scope) { return order::learned(); }},
    encoding_row{"learned-sinusoidal", [](weft::scope) { return order::learned_sinusoidal(); }},
    encoding_row{"fourier", [](weft::scope) { return order::fourier(); }},
    encoding_row{"shaw", [](weft::scope) { return order::shaw<16>(); }},
    encoding_row{"transformer-xl", [](weft::scope) { return order::transformer_xl<64>(); }},
    encoding_row{"t5", [](weft::scope s) { return weft::nn::shared(s, order::t5()); }},
    encoding_row{"alibi", [](weft::scope) { return order::alibi(); }},
    encoding_row{"learned-alibi", [](weft::scope) { return order::learned_alibi(); }},
    encoding_row{"rotary", [](weft::scope) { return order::rotary(); }},
    encoding_row{"learned-rotary", [](weft::scope) { return order::learned_rotary(); }},
    encoding_row{"kerple", [](weft::scope) { return kerple(); }},
};

}  // namespace positions
