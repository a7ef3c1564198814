// Encoder layers and the training step on two threads.
#include <weft/run/threads.hpp>

#include "benchmarks/encoder_contest.hpp"
#include "benchmarks/training_contest.hpp"

namespace bench {
namespace {

constexpr int threads = 2;

template <class M>
contest encoder_on_threads() {
  const auto make = [] {
    auto net = new_module<M>();
    net->run_on(weft::threads(threads));
    return net;
  };
  return encoder_contest<M>(make, threads);
}

contest training_on_threads() {
  const auto make = [] {
    auto trainer = new_trainer();
    trainer->run_on(weft::threads(threads));
    return trainer;
  };
  return training_contest(make, threads);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  return measure(
      argc, argv,
      {{"threads/encoder/384,n=128", encoder_on_threads<encoder<1, 128, 384, 6, 1536>>},
       {"threads/encoder/384,n=128,batch=8", encoder_on_threads<encoder<8, 128, 384, 6, 1536>>},
       {"threads/encoder/768,n=128", encoder_on_threads<encoder<1, 128, 768, 12, 3072>>},
       {"threads/encoder/768,n=512", encoder_on_threads<encoder<1, 512, 768, 12, 3072>>},
       {"threads/training/step", training_on_threads}},
      threads);
}
