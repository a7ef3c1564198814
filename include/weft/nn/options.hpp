// What the layers of transformers have in common.
#pragma once

namespace weft::nn {

enum class activation { relu, gelu, gelu_tanh, swiglu };
enum class normalization { layer, rms };

struct transformer_options {
  bool norm_first = false;  // before each part and not after each sum (Xiong et al. 2020, figure 1)
  nn::activation activation = nn::activation::gelu;
  nn::normalization normalization = nn::normalization::layer;
  double epsilon = 1e-5;   // of the normalisation
  bool final_norm = true;  // after the last layer of an encoder or a decoder
  bool bias = true;        // of projections
  double dropout = 0;      // in training: of attention's weights, hidden units, and before each sum
  double scale = 0;        // of the scores; 0 for 1 / sqrt(HeadDim)
  double soft_cap = 0;     // of the scores: c tanh(score / c); 0 for none
};

}  // namespace weft::nn
