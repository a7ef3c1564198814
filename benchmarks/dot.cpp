// Contractions, as models have them: linear layers and their gradients, attention, small ones.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/cases.hpp"
#include "benchmarks/measure.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/scratch.hpp"

namespace bench {
namespace {

struct axis {
  char letter;
  std::ptrdiff_t length;
};

// A contraction in Einstein's notation: each operand is a string of axes, the last one contiguous.
struct contraction {
  const char* name;
  std::string_view left, right, result;
  std::vector<axis> axes;
};

// The distance of neighbours along an axis in a dense operand; 0 where it has not the axis.
std::ptrdiff_t stride(const contraction& c, std::string_view operand, char letter) {
  const std::size_t at = operand.find(letter);
  if (at == std::string_view::npos) return 0;
  std::ptrdiff_t product = 1;
  for (const axis& a : c.axes)
    if (operand.find(a.letter, at + 1) != std::string_view::npos) product *= a.length;
  return product;
}

std::ptrdiff_t length(const contraction& c, char letter) {
  return std::ranges::find(c.axes, letter, &axis::letter)->length;
}

// In the order in which a model's contraction is lowered: the result's axes, then the others.
std::string loops(const contraction& c) {
  std::string order(c.result);
  for (const char letter : c.left)
    if (order.find(letter) == order.npos) order += letter;
  return order;
}

std::size_t size(const contraction& c, std::string_view operand) {
  std::ptrdiff_t product = 1;
  for (const axis& a : c.axes)
    if (operand.find(a.letter) != std::string_view::npos) product *= a.length;
  return static_cast<std::size_t>(product);
}

void run(benchmark::State& state, const contraction& c) {
  const std::string_view names[]{c.result, c.left, c.right};
  floats elements[]{floats(size(c, c.result)), floats(size(c, c.left)), floats(size(c, c.right))};
  weft::kernels::call call;
  call.kind = weft::op::dot;
  for (std::size_t i = 0; i < 3; ++i) call.operands[i].data = elements[i].data();
  double operations = 2;
  for (const char letter : loops(c)) {
    for (std::size_t i = 0; i < 3; ++i)
      call.operands[i].stride[call.loops] = stride(c, names[i], letter);
    call.extent[call.loops] = length(c, letter);
    operations *= static_cast<double>(call.extent[call.loops++]);
  }
  const weft::aligned_bytes scratch = weft::allocate(weft::kernels::scratch_bytes(call));
  call.scratch = scratch.get();
  const auto dot = weft::kernels::best().dot;
  time_operations(state, operations, [&] { dot(call); });
}

std::vector<axis> product(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n) {
  return {{'m', m}, {'k', k}, {'n', n}};
}
std::vector<axis> attention(std::ptrdiff_t length, std::ptrdiff_t heads) {
  return {{'q', length}, {'k', length}, {'h', heads}, {'d', 64}};
}

// Names: rows, depth and columns. nn is a plain product of matrices; nt has the right operand
// transposed, as the weight of a linear layer; tn the left one, as the gradient of that weight.
std::vector<contraction> contractions() {
  // The training step of model.cpp: 8 texts of 128 bytes, from 128 to 512, and 4 heads of 32.
  const std::vector<axis> layer{{'b', 8}, {'p', 128}, {'e', 128}, {'h', 512}};
  const std::vector<axis> heads{{'b', 8}, {'q', 128}, {'k', 128}, {'h', 4}, {'d', 32}};
  return {
      {"512,512,512/nn", "mk", "kn", "mn", product(512, 512, 512)},
      {"512,512,512/nt", "mk", "nk", "mn", product(512, 512, 512)},
      {"512,512,512/tn", "km", "kn", "mn", product(512, 512, 512)},
      {"1024,1024,1024/nn", "mk", "kn", "mn", product(1024, 1024, 1024)},
      {"1024,1024,1024/nt", "mk", "nk", "mn", product(1024, 1024, 1024)},

      // Layers of encoders, with 384 and 768 numbers for each token.
      {"128,384,1536/nn", "mk", "kn", "mn", product(128, 384, 1536)},
      {"128,384,1536/nt", "mk", "nk", "mn", product(128, 384, 1536)},
      {"512,768,768/nn", "mk", "kn", "mn", product(512, 768, 768)},
      {"512,768,768/nt", "mk", "nk", "mn", product(512, 768, 768)},
      {"512,768,3072/nn", "mk", "kn", "mn", product(512, 768, 3072)},
      {"512,768,3072/nt", "mk", "nk", "mn", product(512, 768, 3072)},
      {"1,768,3072/nn", "mk", "kn", "mn", product(1, 768, 3072)},
      {"1,768,3072/nt", "mk", "nk", "mn", product(1, 768, 3072)},

      // A layer, and the gradients of what it takes and of its weight.
      {"train/layer", "bpe", "he", "bph", layer},
      {"train/input", "bph", "he", "bpe", layer},
      {"train/weight", "bph", "bpe", "he", layer},

      // Queries with keys, weights with values, and the gradient of the values.
      {"attention/128x6/scores", "qhd", "khd", "qhk", attention(128, 6)},
      {"attention/128x6/output", "qhk", "khd", "qhd", attention(128, 6)},
      {"attention/512x12/scores", "qhd", "khd", "qhk", attention(512, 12)},
      {"attention/512x12/output", "qhk", "khd", "qhd", attention(512, 12)},
      {"train/scores", "bqhd", "bkhd", "bqhk", heads},
      {"train/output", "bqhk", "bkhd", "bqhd", heads},
      {"train/value", "bqhk", "bqhd", "bkhd", heads},

      {"64,64,64/nn", "mk", "kn", "mn", product(64, 64, 64)},
      {"32,64,64/nn", "mk", "kn", "mn", product(32, 64, 64)},
      {"16,32,32/nn", "mk", "kn", "mn", product(16, 32, 32)},
      {"8,16,16/nn", "mk", "kn", "mn", product(8, 16, 16)},
      {"8,16,16/nt", "mk", "nk", "mn", product(8, 16, 16)},
  };
}

}  // namespace

void add_dot() {
  for (const contraction& c : contractions())
    benchmark::RegisterBenchmark((std::string("dot/") + c.name).c_str(), run, c);
}

}  // namespace bench
