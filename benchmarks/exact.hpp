// What the work of a case gives in double, which results in float are held against.
#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/tasks.hpp"

namespace bench {

// An element of a result, by its place in row-major order.
struct sample {
  std::size_t at;
  double value;
};

// Whole rows of the result, as many as are had in a moment.
std::vector<sample> exact(const product_task& task);
std::vector<sample> exact(const attention_task& task);
std::vector<sample> exact(const row_task& task);

}  // namespace bench
