#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// Eigen's products, and what is put together from them by hand: attention in blocks of queries, a
// layer of an encoder with its projections joined. Extents that are small are fixed. It is compiled
// by clang where there is one, for this machine: twice as fast as by g++ 12.
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
