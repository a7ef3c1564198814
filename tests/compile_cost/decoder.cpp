// The 30 layers of SmolLM2-135M, with a cache of keys and values.
#include "compile_cost/evaluation.hpp"
#include "examples/models/llama.hpp"

using model = models::llama<models::smollm2_135m, 256, 2048>;
constexpr int instructions = weft::testing::evaluate<model>(weft::inference_passes);

void use() {
  weft::module<model> net;
  net.reset();
}
