#pragma once

#include <memory>
#include <string>

#include "benchmarks/peers/peer.hpp"

namespace bench {

class worker;  // the process that runs torch_worker.py

// PyTorch, in a process of its own, which executes the work on request and times itself, so that it
// can be interleaved with the others.
class torch : public peer {
 public:
  torch(std::string name, std::string python, std::string script);
  contender product(const product_task& task) override;
  contender attention(const attention_task& task) override;
  contender encoder(const encoder_task& task) override;
  contender row(const row_task& task) override;
  contender training(const training_task& task) override;

 private:
  std::shared_ptr<worker> started();
  std::string python_, script_;
  std::shared_ptr<worker> worker_;
};

}  // namespace bench
