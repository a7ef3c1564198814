// A graph of ggml's, with its tensors and the backends that it runs on.
#pragma once

#include <ggml-cpp.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/floats.hpp"

namespace bench {

// Loads the backends when first asked. Whether there is one that hands products to a BLAS.
bool ggml_has_blas();

class ggml_graph {
 public:
  ggml_graph(int threads, bool blas);

  // The context in which operations are built.
  ggml_context* context() const { return nodes_.get(); }
  // A tensor that is filled before the graph runs; extents as ggml has them, the innermost first.
  ggml_tensor* filled(std::initializer_list<std::int64_t> extents, const floats& values,
                      ggml_type type = GGML_TYPE_F32);
  // The graph is what this tensor needs.
  void compute(ggml_tensor* result);
  void run();
  std::vector<float> result() const;

 private:
  ggml_context_ptr constants_, nodes_;
  std::vector<ggml_backend_ptr> backends_;  // the processor last, as the scheduler wants it
  ggml_backend_buffer_ptr memory_;          // of the constants
  ggml_backend_sched_ptr scheduler_;
  std::vector<std::function<void()>> fill_;
  ggml_tensor* result_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
};

// The graph that `build` makes, which gives its result; without a BLAS and with one, what is
// faster.
contender ggml_contender(int threads, const std::function<ggml_tensor*(ggml_graph&)>& build);

}  // namespace bench
