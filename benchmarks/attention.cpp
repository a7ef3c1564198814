// Attention, forward: 12 heads of 64, plain and causal; and with a sliding window, whose time per
// position does not depend on the number of positions.
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/weft.hpp"

namespace bench {
namespace {

constexpr int heads = 12, depth = 64;

enum class sight { plain, causal, window };
constexpr int reach = 128;  // of a window, to each side

template <int N, sight Sight>
struct attention {
  struct Pos : weft::axis<N> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Heads : weft::axis<heads> {};
  struct HeadDim : weft::axis<depth> {};

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, KeyPos, Heads, HeadDim>();
    if constexpr (Sight == sight::causal) {
      return weft::dot<KeyPos>(
          nn::attention_weights<HeadDim, KeyPos>(q, k, nn::causal<Pos, KeyPos>()), v);
    } else if constexpr (Sight == sight::window) {
      const auto mask = nn::sliding_window<Pos, KeyPos>({.left = reach, .right = reach});
      return weft::dot<KeyPos>(nn::attention_weights<HeadDim, KeyPos>(q, k, mask), v);
    } else {
      return weft::dot<KeyPos>(nn::attention_weights<HeadDim, KeyPos>(q, k), v);
    }
  }
};

template <int N, sight Sight>
contest make() {
  constexpr bool causal = Sight == sight::causal;
  constexpr std::size_t size = std::size_t{N} * heads * depth;
  const attention_task task{
      N, heads, depth, causal, floats(size, 1), floats(size, 2), floats(size, 3)};
  contest c;
  // Two contractions; of a causal one, only the visible pairs of query and key count, the query's
  // own position included.
  const double pairs = causal ? N * (N + 1.0) / 2 : double{N} * N;
  if constexpr (Sight == sight::window)
    c.elements = N;
  else
    c.operations = 4 * pairs * heads * depth;
  c.tolerance = N * std::numeric_limits<float>::epsilon();
  auto net = std::make_shared<weft::module<attention<N, Sight>>>();
  c.weft = weft_contender(net, [task](auto& n) {
    return n(weft::arg<"q">(task.q), weft::arg<"k">(task.k), weft::arg<"v">(task.v));
  });
  if constexpr (Sight != sight::window) {
    c.exact = [task] { return exact(task); };
    c.peers = peers_at(&peer::attention, task);
  }
  return c;
}

template <int N>
void add(std::vector<named_contest>& all) {
  all.push_back({"attention/plain/" + std::to_string(N), make<N, sight::plain>});
  all.push_back({"attention/causal/" + std::to_string(N), make<N, sight::causal>});
}
template <int N>
void add_window(std::vector<named_contest>& all) {
  all.push_back({"window/" + std::to_string(N), make<N, sight::window>});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<bench::named_contest> all;
  bench::add<128>(all);
  bench::add<512>(all);
  bench::add<1024>(all);
  bench::add<4096>(all);
  bench::add_window<1024>(all);
  bench::add_window<2048>(all);
  bench::add_window<4096>(all);
  bench::add_window<8192>(all);
  return bench::measure(argc, argv, all);
}
