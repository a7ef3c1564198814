// oneDNN primitives with their arguments, for versions 2 and 3.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "benchmarks/floats.hpp"

namespace bench {

using dims = dnnl::memory::dims;

// Floats with these extents and strides; without strides: row-major.
dnnl::memory::desc layout(const dims& extents);
dnnl::memory::desc layout(const dims& extents, const dims& strides);
dnnl::memory at(const dnnl::engine& engine, const dnnl::memory::desc& desc, float* data);

// Post-ops of a product: x * scale, then + y's previous value, then GELU.
struct finish {
  float scale = 1;
  bool gelu = false, adds = false;
};

// When a weight is reordered to the layout that the primitive prefers.
enum class weight_layout { nowhere, beforehand, in_each_run };

// A primitive and its arguments.
class step {
 public:
  void run(const dnnl::stream& stream) const {
    if (before_) before_.execute(stream, before_arguments_);
    primitive_.execute(stream, arguments_);
  }

  // Reorders to another layout or type.
  static step copy(const dnnl::memory& from, const dnnl::memory& to);
  // y = x w, plus the bias if it is not null. A reordered weight gets the type of x.
  static step product(const dnnl::engine& engine, const dnnl::memory& x, const dnnl::memory& w,
                      const dnnl::memory* bias, const dnnl::memory& y, weight_layout how,
                      const finish& then = {});
  // Along the last axis.
  static step softmax(const dnnl::engine& engine, const dnnl::memory& x, const dnnl::memory& y);
  static step layer_norm(const dnnl::engine& engine, const dnnl::memory& x,
                         const dnnl::memory& gain, const dnnl::memory& bias, const dnnl::memory& y);
  static step eltwise(const dnnl::engine& engine, dnnl::algorithm kind, const dnnl::memory& x,
                      const dnnl::memory& y);

 private:
  using arguments = std::unordered_map<int, dnnl::memory>;
  step(const dnnl::primitive& primitive, arguments given)
      : primitive_(primitive), arguments_(std::move(given)) {}

  dnnl::primitive primitive_;
  arguments arguments_;
  dnnl::reorder before_;  // may be empty
  arguments before_arguments_;
};

}  // namespace bench
