// MiniLM, for one text of the most tokens.
#include "compile_cost/evaluation.hpp"
#include "examples/models/bert.hpp"

using model = models::bert<models::minilm_l6>;
constexpr int instructions = weft::testing::evaluate<model>(weft::inference_passes);

void use() {
  weft::module<model> net;
  net.reset();
}
