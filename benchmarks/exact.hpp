// Reference results in double, against which float results are compared.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/tasks.hpp"

namespace bench {

// An element of a result, by its row-major index.
struct sample {
  std::size_t at;
  double value;
};

// Complete rows of the result, as many as can be computed in a moment.
std::vector<sample> exact(const product_task& task);
std::vector<sample> exact(const attention_task& task);
std::vector<sample> exact(const row_task& task);

}  // namespace bench
