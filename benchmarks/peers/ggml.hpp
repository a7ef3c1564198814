#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// ggml's graphs on the backend for this machine's instructions, with and without the one that hands
// products to a BLAS: what is faster. Its gelu by tanh goes by a table of halves, which is another
// function.
class ggml : public peer {
 public:
  ggml();
  contender product(const product_task& task) override;
  contender bfloat16_product(const product_task& task) override;
  contender attention(const attention_task& task) override;
  contender encoder(const encoder_task& task) override;
  contender row(const row_task& task) override;
};

}  // namespace bench
