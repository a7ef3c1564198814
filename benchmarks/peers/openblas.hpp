#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// Products by sgemm and sgemv; it has no API to prepack.
class openblas : public peer {
 public:
  openblas();
  contender product(const product_task& task) override;
  contender chain(const chain_task& task) override;
};

}  // namespace bench
