// The work of the cases, as plain extents and contiguous row-major memory. Each is what weft's
// model computes; a peer may repack its weights before it is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/floats.hpp"

namespace bench {

// y [m, n] = x [m, k] w [k, n].
struct product_task {
  std::ptrdiff_t m, k, n;
  bool packed;  // whether the weight may be packed beforehand
  floats x, w;
};

// y = x [m, k] w[0] w[1] ... with `length` factors [k, k]: a case for extents that a model fixes.
struct chain_task {
  std::ptrdiff_t m, k, length;
  floats x, w;  // w [length, k, k]
};

// y [n, heads, depth] = softmax(q kᵀ / sqrt(depth)) v for each head.
struct attention_task {
  std::ptrdiff_t n, heads, depth;
  bool causal;
  floats q, k, v;  // [n, heads, depth]
};

// A weight [out, in], as PyTorch has it, and a bias [out].
struct linear_weights {
  floats weight, bias;
};
// Vaswani et al. 2017, figure 1, left: post-norm; GELU by erf, no mask.
struct encoder_task {
  std::ptrdiff_t batch{}, n{}, embed{}, heads{}, hidden{};
  int threads{};
  floats x{};  // [batch, n, embed]
  linear_weights query{}, key{}, value{}, out{}, linear1{}, linear2{};
  linear_weights norm1{}, norm2{};  // gain and bias [embed]

  std::ptrdiff_t depth() const { return embed / heads; }
  std::ptrdiff_t tokens() const { return batch * n; }
};

// Rowwise or elementwise operations.
enum class row_work { softmax, layer_norm, gelu, gelu_tanh, exp };
struct row_task {
  row_work kind;
  std::ptrdiff_t rows, columns;
  floats x, gain, bias;  // gain and bias [columns], for layer_norm
};

// A training step of a decoder-only language model (Radford et al. 2019): pre-norm, causal, learned
// positions; the mean cross-entropy, its gradient, AdamW (learning rate 1e-3, weight decay 1e-2).
// The result is the losses of the first `checked_steps` steps, from the given parameters.
struct training_task {
  static constexpr int checked_steps = 4;
  std::ptrdiff_t vocabulary{}, embed{}, heads{}, layers{}, hidden{}, n{}, batch{};
  int threads{};
  std::vector<std::int32_t> tokens{}, targets{};  // [batch, n]
  struct parameter {
    std::vector<std::size_t> extents;
    floats values;
  };
  std::map<std::string, parameter> parameters{};  // by their paths
};

}  // namespace bench
