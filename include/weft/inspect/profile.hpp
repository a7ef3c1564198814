// Where the time of a model's runs goes, instruction by instruction.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/lower/cost.hpp"
#include "weft/lower/lower.hpp"
#include "weft/run/module.hpp"
#include "weft/run/recording.hpp"
#include "weft/run/trainer.hpp"

namespace weft {

// What a machine can do at most, per second.
struct machine_peak {
  double flops = 0;  // floating-point operations: multiply-adds in registers
  double bytes = 0;  // read from memory
};

// What a profile keeps, and what it compares with.
struct profile_options {
  // What rates are compared with; by default it is measured, as profile::peak says.
  std::optional<machine_peak> peak = {};
  // The number of runs that are kept. Later ones replace the oldest.
  std::size_t runs = 1000;
};

// Times each instruction of a module's runs, or of a trainer's steps, from its construction on:
//
//   weft::module<encoder> net;
//   weft::profile p(net);
//   for (int i = 0; i < 100; ++i) net(weft::arg<"x">(x));
//   std::cout << p;
//
// It prints a line for each instruction that explain() prints under "in every run", in the same
// order and with the same text, then their sum, and the rest of the time. Results have the same
// bits as without a profile, and runs allocate nothing.
//
// An instruction's time begins when the one before it is completed, so on several threads it
// includes the barrier at its end, and it includes a read of the clock, 20 to 40 ns. That of an
// instruction in a scan is of all steps together. What is executed once, when the module is
// created, is not timed. The sum is less than the time of the run by what it takes to begin, and to
// start and end the threads. Beside both are the checks and copies of arguments before a run, where
// it takes more than to store their addresses, and the optimizer. Nothing else that the caller does
// is timed.
//
// Operations and bytes are counted as weft::cost does, but with the lengths of each run instead of
// their bounds. What depends on the values of arguments is counted at most: attention with an
// offset or with valid lengths, as with a cache, may skip keys, and its rates are then too high.
// exp, tanh and the like are one operation.
//
// A profile may be copied and may outlive its module, whose later runs are no longer timed when the
// last copy is destroyed. A module has one profile at a time: a second one throws weft::error.
class profile {
 public:
  // Times the runs of a module. Throws weft::error if it has a profile already.
  template <model_like Model, class Unit>
  explicit profile(detail::runnable<Model, Unit>& net, profile_options options = {})
      : profile(lowered<Unit>::program, Unit::g.parts(), options) {
    net.record(recording_);
  }
  // The same for the steps of a trainer.
  template <model_like Model, class Optimizer, fixed_string Loss>
  explicit profile(trainer<Model, Optimizer, Loss>& t, profile_options options = {})
      : profile(lowered<training<Model, Loss>>::program, training<Model, Loss>::g.parts(),
                options) {
    t.record(recording_);
  }

  // In seconds.
  struct time {
    double median = 0;  // of the runs
    double total = 0;   // of all runs together
  };
  // An instruction, or all of them together.
  struct line {
    std::string operation;  // as explain prints it: "%5 = dot over [Embed] (x, wq)"
    std::string axes;       // of its result: "[Pos, Heads]"
    time spent;             // from the end of the instruction before it to its own
    operation_cost cost;    // of a run: the mean, if their lengths differ
    double flop_rate = 0;   // operations per second: the median of the runs
    double byte_rate = 0;   // bytes per second, likewise
  };

  // The number of runs that are kept, to which all that follows refers.
  std::size_t runs() const { return recording_->size(); }
  // The instructions, in order.
  std::vector<line> instructions() const;
  // All of them together.
  line sum() const;
  // Whole runs, without what follows.
  time run() const;
  // The checks and copies of arguments before a run; 0 if there are none to do.
  time binding() const;
  // The update of the parameters after it; 0 for a module.
  time optimizer() const;

  // The peak given, or that of the threads that the module runs on, measured when it is first asked
  // for, which takes 2 to 60 ms: each thread's multiply-adds, and its bandwidth for reading as many
  // bytes, at most 64 MB, as the module has parameters, gradients and workspace.
  machine_peak peak() const;
  // The larger of the shares of the peak that the two rates are. It exceeds 1 where operands are in
  // a nearer cache than all of the module's memory is.
  double share_of_peak(const line& l) const;

  // Prints a table. Its column "of peak" says of which rate the share is: of P, the peak of
  // operations, or of B, that of bytes.
  friend std::ostream& operator<<(std::ostream& out, const profile& p);

 private:
  profile(const program& p, const graph_parts& g, profile_options options);

  std::vector<line> lines() const;  // the instructions, and their sum

  const program* program_;
  graph_parts graph_;
  mutable std::optional<machine_peak> peak_;
  std::shared_ptr<recording> recording_;
};

}  // namespace weft
#include "weft/header_end.hpp"
