#pragma once

#include "benchmarks/peers/peer.hpp"

namespace bench {

// Its generated kernels for small products; large ones go over blocks of a packed weight, by hand,
// in the sizes of blocks that turn out best.
class libxsmm : public peer {
 public:
  libxsmm();
  ~libxsmm() override;
  contender product(const product_task& task) override;
  contender chain(const chain_task& task) override;
};

}  // namespace bench
