#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// ggml's graphs on its CPU backend for this machine, without and with the backend that delegates
// products to a BLAS, whichever is faster. Its gelu by tanh uses a table of float16, which is
// another function.
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
