// Runs a program instruction by instruction and checks its memory plan against what the
// instructions access.
#pragma once

#include <memory>

#include "support/live_ranges.hpp"
#include "weft/run/engine.hpp"

namespace weft::testing {

class auditor {
 public:
  // p is the program that g, an optimized graph, is lowered to. Both outlive the auditor.
  auditor(const graph& g, const program& p);

  // The bytes that a workspace needs after the program's own.
  std::size_t extra_bytes() const { return extra_; }

  // Runs all instructions on the arguments that e is bound to, for one target, and fills memory
  // that no later instruction may read with NaN, so that reading it gives a wrong result. In-place
  // instructions run twice, first with a result in separate memory; returns how many of them differ
  // in a bit. Each instruction is split into `parts` partitions, as threads do it, which run one
  // after the other.
  int run(const engine& e, int parts = 1) const;

 private:
  bool owns(int id) const;
  std::size_t bytes_at(int root) const;
  bool is_in_place(const instruction& s) const;
  bool differs_in_memory_of_its_own(const engine& e, int i, std::ptrdiff_t place, int parts) const;
  void spoil_before(int node, std::vector<char>& spoiled, std::byte* workspace) const;

  const graph& g_;
  const program& p_;
  std::unique_ptr<const memory_plan> plan_;
  live_ranges ranges_;
  std::size_t extra_ = 0;
};

}  // namespace weft::testing
