#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// Eigen's products, and compositions of them by hand: attention in blocks of queries, an encoder
// layer with its projections concatenated. Small extents are compile-time constants. It is compiled
// by clang if available, for this machine: twice as fast as by g++ 12.
class eigen : public peer {
 public:
  eigen();
  contender product(const product_task& task) override;
  contender chain(const chain_task& task) override;
  contender attention(const attention_task& task) override;
  contender encoder(const encoder_task& task) override;
  contender row(const row_task& task) override;
};

}  // namespace bench
