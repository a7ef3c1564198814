// Rowwise and elementwise operations: 64 rows of 512, which fit in L2.
#include <cstddef>
#include <memory>

#include "benchmarks/contest.hpp"
#include "benchmarks/weft.hpp"

namespace bench {
namespace {

struct Row : weft::axis<64> {};
struct Column : weft::axis<512> {};

template <row_work Kind>
struct rows {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Row, Column>();
    if constexpr (Kind == row_work::softmax)
      return weft::softmax<Column>(x);
    else if constexpr (Kind == row_work::layer_norm)
      return weft::nn::layer_norm<Column>(s, x);
    else if constexpr (Kind == row_work::gelu)
      return weft::gelu(x);
    else if constexpr (Kind == row_work::gelu_tanh)
      return weft::gelu_tanh(x);
    else
      return weft::exp(x);
  }
};

template <row_work Kind>
contest make() {
  const row_task task{Kind,
                      Row::extent,
                      Column::extent,
                      floats(Row::extent * Column::extent, 1, 4),
                      floats(Column::extent, 2),
                      floats(Column::extent, 3)};
  auto net = std::make_shared<weft::module<rows<Kind>>>();
  if constexpr (Kind == row_work::layer_norm) {
    set(net->parameters(), "weight", task.gain);
    set(net->parameters(), "bias", task.bias);
  }
  contest c;
  c.elements = static_cast<double>(Row::extent * Column::extent);
  // Peers' erf and tanh are rational approximations; the tolerance only checks that they compute
  // the same function.
  c.tolerance = 1e-5;
  c.weft = weft_contender(net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); });
  c.exact = [task] { return exact(task); };
  c.peers = peers_at(&peer::row, task);
  return c;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using bench::row_work;
  return bench::measure(argc, argv,
                        {{"rows/softmax", bench::make<row_work::softmax>},
                         {"rows/layer_norm", bench::make<row_work::layer_norm>},
                         {"rows/gelu", bench::make<row_work::gelu>},
                         {"rows/gelu_tanh", bench::make<row_work::gelu_tanh>},
                         {"rows/exp", bench::make<row_work::exp>}});
}
