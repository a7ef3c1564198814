// A ggml graph with its tensors and backends.
#pragma once

#include <ggml-cpp.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/floats.hpp"

namespace bench {

// Whether there is a backend that delegates products to a BLAS. Loads the backends on first use.
bool ggml_has_blas();

class ggml_graph {
 public:
  ggml_graph(int threads, bool blas);

  // The context in which operations are built.
  ggml_context* context() const { return nodes_.get(); }
  // A tensor that is filled before the graph runs; extents in ggml's order, innermost first.
  ggml_tensor* filled(std::initializer_list<std::int64_t> extents, const floats& values,
                      ggml_type type = GGML_TYPE_F32);
  // Builds the graph that computes this tensor.
  void compute(ggml_tensor* result);
  void run();
  std::vector<float> result() const;

 private:
  ggml_context_ptr constants_, nodes_;
  std::vector<ggml_backend_ptr> backends_;  // the CPU last, as the scheduler requires
  ggml_backend_buffer_ptr memory_;          // of the constants
  ggml_backend_sched_ptr scheduler_;
  std::vector<std::function<void()>> fill_;
  ggml_tensor* result_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
};

// The graph of the tensor that `build` returns, without and with a BLAS, whichever is faster.
contender ggml_contender(int threads, const std::function<ggml_tensor*(ggml_graph&)>& build);

}  // namespace bench
