// Products whose extents are small and fixed in the model, sixteen in a chain: each is over before
// a call of anything has begun, so a model is worth measuring, not a single one.
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/weft.hpp"

namespace bench {
namespace {

constexpr int length = 16;

// x w0 w1 ... : the axes In and Out take turns.
template <int M, int K>
struct chain {
  struct Pos : weft::axis<M> {};
  struct In : weft::axis<K> {};
  struct Out : weft::axis<K> {};

  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, In>();
    for (int i = 0; i < length; i += 2) {
      auto between = weft::dot<In>(x, (s / i).template param<"w", In, Out>());
      x = weft::dot<Out>(between, (s / (i + 1)).template param<"w", Out, In>());
    }
    return x;
  }
};

template <int M, int K>
contest make() {
  // So that the numbers neither grow nor vanish.
  const chain_task task{M, K, length, floats(M * K, 1),
                        floats(std::size_t{length} * K * K, 2, std::sqrt(3.0F / K))};
  auto net = std::make_shared<weft::module<chain<M, K>>>();
  const auto parameters = net->parameters();
  for (std::size_t i = 0; i < length; ++i) {
    const auto w = parameters.find(std::to_string(i) + ".w").values;
    std::copy_n(task.w.data() + i * w.size(), w.size(), w.begin());
  }
  freeze(*net);

  contest c;
  c.operations = 2.0 * length * M * K * K;
  c.tolerance = length * K * std::numeric_limits<float>::epsilon();
  c.weft = weft_contender(net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); });
  add_peers(c, &peer::chain, task);
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
