// Contractions with layers' weights: packed beforehand, as for inference; unpacked, as in training;
// in bfloat16 with float32 accumulation; and matrix-vector products, which are limited by the
// bandwidth at which weights are read.
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/weft.hpp"

namespace bench {
namespace {

template <int M, int K, int N>
struct product {
  struct Pos : weft::axis<M> {};
  struct In : weft::axis<K> {};
  struct Out : weft::axis<N> {};

  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, In>();
    auto w = s.param<"w", In, Out>();
    return weft::dot<In>(x, w);
  }
};

enum class weights { packed, plain, bfloat16 };

template <int M, int K, int N>
contest make(weights how) {
  const product_task task{M, K, N, how != weights::plain, floats(M * K, 1), floats(K * N, 2)};
  auto net = std::make_shared<weft::module<product<M, K, N>>>();
  set(net->parameters(), "w", task.w);
  if (how == weights::packed) net->freeze();
  if (how == weights::bfloat16) net->freeze(weft::precision::bfloat16_products);

  contest c;
  if (M == 1)
    c.bytes = double{sizeof(float)} * K * N;
  else
    c.operations = 2.0 * M * K * N;
  c.tolerance = K * std::numeric_limits<float>::epsilon();
  c.weft = weft_contender(net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); });
  c.exact = [task] { return exact(task); };
  c.peers = peers_at(&peer::product, task);
  if (how == weights::bfloat16) {
    c.tolerance += 0x1p-7 + 0x1p-16;  // both factors of each product are rounded
    c.peers = peers_at(&peer::bfloat16_product, task);
  }
  return c;
}

template <int M, int K, int N>
void add(std::vector<named_contest>& all) {
  const std::string extents = std::to_string(M) + "," + std::to_string(K) + "," + std::to_string(N);
  if constexpr (M == 1) {
    all.push_back({"vector/" + extents, [] { return make<M, K, N>(weights::packed); }});
  } else {
    all.push_back({"contraction/packed/" + extents, [] { return make<M, K, N>(weights::packed); }});
    all.push_back({"contraction/plain/" + extents, [] { return make<M, K, N>(weights::plain); }});
    all.push_back(
        {"contraction/bfloat16/" + extents, [] { return make<M, K, N>(weights::bfloat16); }});
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<bench::named_contest> all;
  bench::add<128, 384, 1536>(all);
  bench::add<512, 768, 768>(all);
  bench::add<512, 768, 3072>(all);
  bench::add<1024, 1024, 1024>(all);
  bench::add<1, 768, 3072>(all);
  return bench::measure(argc, argv, all);
}
