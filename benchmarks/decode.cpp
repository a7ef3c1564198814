// A token of a decoder-only language model at a time: as much of SmolLM2 as no cache holds. The
// limit is the time that it takes to read the weights.
#include <cstdint>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/weft.hpp"
#include "examples/models/llama.hpp"

namespace bench {
namespace {

struct size : models::smollm2_135m {
  static constexpr int vocab = 8192, layers = 8;
};
constexpr int context = 128;
using model = models::llama<size, 1, context>;

contest decoding(weft::precision weights, double bytes_of_weight) {
  const auto net = new_module<model>();
  contest c;
  const auto& parameters = net->parameters();
  for (std::size_t i = 0; i < parameters.count(); ++i)
    c.bytes += static_cast<double>(parameters[i].values.size()) * bytes_of_weight;
  net->freeze(weights);
  c.weft = {timed(1,
                  [net, done = 0]() mutable {
                    if (done % context == 0) net->reset();
                    const std::int32_t token[]{done++ % size::vocab};
                    (*net)(weft::arg<"tokens">(token));
                  }),
            [] { return std::vector<float>(); }};
  return c;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  return measure(argc, argv,
                 {{"decode/float32", [] { return decoding(weft::precision::float32, 4); }},
                  {"decode/bfloat16", [] { return decoding(weft::precision::bfloat16, 2); }},
                  {"decode/q8_0", [] { return decoding(weft::precision::q8_0, 34.0 / 32); }},
                  {"decode/q4_0", [] { return decoding(weft::precision::q4_0, 18.0 / 32); }}});
}
