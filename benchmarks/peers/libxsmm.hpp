#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// Its generated kernels for small products; large ones loop over blocks of a packed weight, by
// hand, with the block sizes that are fastest.
class libxsmm : public peer {
 public:
  libxsmm();
  ~libxsmm() override;
  contender product(const product_task& task) override;
  contender chain(const chain_task& task) override;
};

}  // namespace bench
