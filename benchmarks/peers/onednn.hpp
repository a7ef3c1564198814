#pragma once

#include <dnnl.hpp>
#include <memory>

#include "benchmarks/peers/peer.hpp"

namespace bench {

// oneDNN's primitives; an encoder layer is composed of them by hand. Weights that may be packed
// beforehand are reordered to the layout that the primitive prefers.
class onednn : public peer {
 public:
  onednn();
  contender product(const product_task& task) override;
  contender bfloat16_product(const product_task& task) override;
  contender chain(const chain_task& task) override;
  contender attention(const attention_task& task) override;
  contender encoder(const encoder_task& task) override;
  contender row(const row_task& task) override;

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace bench
