// Operation counts of models.
#pragma once

namespace bench {

// Floating-point operations of a transformer layer, contractions only: four projections, scores and
// weighted values, and the feed-forward network.
constexpr double layer_operations(double tokens, double keys, double embed, double hidden) {
  return 2 * tokens * (4 * embed * embed + 2 * keys * embed + 2 * embed * hidden);
}

}  // namespace bench
