// Chains of sixteen matrix products with small extents that the model fixes: one product takes less
// time than a library call's overhead, so a model is measured, not a single product.
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/models/chain.hpp"
#include "benchmarks/weft.hpp"

namespace bench {
namespace {

template <int M, int K>
contest make() {
  // Scaled so that values neither grow nor vanish.
  const chain_task task{M, K, chain_length, floats(M * K, 1),
                        floats(std::size_t{chain_length} * K * K, 2, std::sqrt(3.0F / K))};
  auto net = new_generated_module<chain<M, K>>();
  const auto parameters = net->parameters();
  for (std::size_t i = 0; i < chain_length; ++i) {
    const auto w = parameters.find(std::to_string(i) + ".w").values;
    std::copy_n(task.w.data() + i * w.size(), w.size(), w.begin());
  }
  net->freeze();

  contest c;
  c.operations = 2.0 * chain_length * M * K * K;
  c.tolerance = chain_length * K * std::numeric_limits<float>::epsilon();
  c.weft = weft_contender(net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); });
  c.peers = peers_at(&peer::chain, task);
  return c;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::measure(argc, argv,
                        {{"small/8,16,16", bench::make<8, 16>},
                         {"small/16,32,32", bench::make<16, 32>},
                         {"small/32,64,64", bench::make<32, 64>},
                         {"small/64,64,64", bench::make<64, 64>}});
}
