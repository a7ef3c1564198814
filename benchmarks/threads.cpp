// Two threads, on the layers of encoders and the step of training.
#include "benchmarks/encoder_contest.hpp"
#include "benchmarks/training_contest.hpp"

int main(int argc, char** argv) {
  using namespace bench;
  constexpr int threads = 2;
  return measure(argc, argv, {}, threads);
}
