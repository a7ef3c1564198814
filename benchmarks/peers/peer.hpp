// Libraries that weft is compared with.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/tasks.hpp"

namespace bench {

// A peer. It returns an empty contender for work that it does not support, or not well enough for a
// comparison. Copies of tasks share their data, so a contender keeps what it needs.
class peer {
 public:
  explicit peer(std::string name) : name_(std::move(name)) {}
  virtual ~peer() = default;
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  // Name and version.
  const std::string& name() const { return name_; }

  virtual contender product(const product_task&) { return {}; }
  // With both factors rounded to bfloat16, and float32 accumulation.
  virtual contender bfloat16_product(const product_task&) { return {}; }
  virtual contender chain(const chain_task&) { return {}; }
  virtual contender attention(const attention_task&) { return {}; }
  virtual contender encoder(const encoder_task&) { return {}; }
  virtual contender row(const row_task&) { return {}; }
  virtual contender training(const training_task&) { return {}; }

 private:
  std::string name_;
};

// The peers found when the benchmarks were configured.
std::vector<std::unique_ptr<peer>> peers();

}  // namespace bench
