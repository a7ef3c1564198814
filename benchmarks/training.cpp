// A training step of a small language model: forward, backward, AdamW.
#include "benchmarks/training_contest.hpp"

int main(int argc, char** argv) {
  return bench::measure(argc, argv, {{"training/step", [] { return bench::training_contest(); }}});
}
