// The encodings to compare, one per line.
#pragma once

#include <string_view>
#include <tuple>
#include <weft/model.hpp>

#include "own.hpp"

namespace positions {

// `create` makes the encoding; its scope is for parameters that all layers share. Otherwise each
// layer has its own.
template <class Create>
struct encoding_row {
  std::string_view name;
  Create create;
};
template <class Create>
encoding_row(std::string_view, Create) -> encoding_row<Create>;

namespace position = weft::nn::position;

// Sizes are those of the papers; transformer_xl distinguishes as many distances as the training
// texts have.
inline constexpr std::tuple encodings{
    encoding_row{"none", [](weft::scope) { return position::none(); }},
    encoding_row{"index", [](weft::scope) { return position::index(); }},
    encoding_row{"index/length", [](weft::scope) { return position::relative_index(); }},
    encoding_row{"sinusoidal", [](weft::scope) { return position::sinusoidal(); }},
    encoding_row{"learned", [](weft::scope) { return position::learned(); }},
    encoding_row{"learned-sinusoidal", [](weft::scope) { return position::learned_sinusoidal(); }},
    encoding_row{"fourier", [](weft::scope) { return position::fourier(); }},
    encoding_row{"shaw", [](weft::scope) { return position::shaw<16>(); }},
    encoding_row{"transformer-xl", [](weft::scope) { return position::transformer_xl<64>(); }},
    encoding_row{"t5", [](weft::scope s) { return weft::nn::shared(s, position::t5()); }},
    encoding_row{"alibi", [](weft::scope) { return position::alibi(); }},
    encoding_row{"learned-alibi", [](weft::scope) { return position::learned_alibi(); }},
    encoding_row{"rotary", [](weft::scope) { return position::rotary(); }},
    encoding_row{"learned-rotary", [](weft::scope) { return position::learned_rotary(); }},
    encoding_row{"xpos", [](weft::scope) { return position::xpos(); }},
    encoding_row{"fire", [](weft::scope) { return position::fire({.threshold = 64}); }},
    encoding_row{"cope", [](weft::scope) { return position::cope<64>(); }},
    encoding_row{"forgetting", [](weft::scope) { return position::forgetting(); }},
    encoding_row{"kerple", [](weft::scope) { return kerple(); }},
};

}  // namespace positions
