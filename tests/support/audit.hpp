// Carries out a program step by step and holds its memory plan against what the steps do.
#pragma once

#include <memory>

#include "support/live_ranges.hpp"
#include "weft/run/engine.hpp"

namespace weft::testing {

class auditor {
 public:
  // The program that g, a graph as passes leave it, is lowered to. Both outlive the auditor.
  auditor(const graph& g, const program& p);

  // What a workspace needs behind the program's own.
  std::size_t extra_bytes() const { return extra_; }

  // Runs all steps on the arguments that e is bound to, for one target, and fills memory that no
  // later step may read with NaN, so that one that does read it gives a wrong result. A step whose
  // result lies in an operand's memory is carried out twice, first into memory of its own: gives
  // how many of these differ by a bit. The work of each step is cut into so many parts, as threads
  // do it, but one after the other.
  int run(const engine& e, const kernels::table& kernels, int parts = 1) const;

 private:
  bool owns(int id) const;
  std::size_t bytes_at(int root) const;
  bool is_in_place(const instruction& s) const;
  bool differs_in_memory_of_its_own(const engine& e, const instruction& s, std::ptrdiff_t place,
                                    const kernels::table& kernels, int parts) const;
  void spoil_before(int node, std::vector<char>& spoiled, std::byte* workspace) const;

  const graph& g_;
  const program& p_;
  std::unique_ptr<const memory_plan> plan_;
  live_ranges ranges_;
  std::size_t extra_ = 0;
};

}  // namespace weft::testing
