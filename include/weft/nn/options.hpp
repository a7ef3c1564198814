// Options of feed-forward networks, encoders, decoders and transformers.
#pragma once
#include "weft/header_begin.hpp"

#include <optional>

#include "weft/language.hpp"

namespace weft::nn {

// Of the feed-forward network: see nn::feed_forward, weft::gelu and weft::gelu_tanh. squared_relu
// is relu(x)² (So et al. 2021, section 4.1). The last three are those of a gate.
enum class activation { relu, gelu, gelu_tanh, squared_relu, swiglu, geglu, geglu_tanh };
// nn::layer_norm or nn::rms_norm.
enum class normalization { layer, rms };

// Options of all layers of a transformer.
struct transformer_options {
  // Pre-norm, x + part(norm(x)), instead of norm(x + part(x)) (Xiong et al. 2020, figure 1).
  bool norm_first = false;
  nn::activation activation = nn::activation::gelu;            // of the feed-forward networks
  nn::normalization normalization = nn::normalization::layer;  // of all blocks
  double epsilon = 1e-5;   // of the normalizations: added to the variance, or mean square
  bool final_norm = true;  // after the last layer of an encoder or a decoder
  bool bias = true;        // of all projections: attention's and the feed-forward network's
  // In training, the rate of dropout on attention weights, hidden units and each residual branch.
  double dropout = 0;
  std::optional<double> scale = {};     // factor of the scores; by default 1 / sqrt(HeadDim)
  std::optional<double> soft_cap = {};  // c: scores become c tanh(score / c)
};

}  // namespace weft::nn
#include "weft/header_end.hpp"
