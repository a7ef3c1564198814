// The passes that a model's graph goes through, in their order.
#pragma once
#include "weft/header_begin.hpp"

#include <string_view>

#include "weft/fault.hpp"
#include "weft/graph/static_array.hpp"
#include "weft/passes/assign_layouts.hpp"
#include "weft/passes/canonicalize_axis_order.hpp"
#include "weft/passes/copy_escaping_results.hpp"
#include "weft/passes/differentiate.hpp"
#include "weft/passes/fuse.hpp"
#include "weft/passes/fuse_attention.hpp"
#include "weft/passes/hoist.hpp"
#include "weft/passes/remove_dropout.hpp"
#include "weft/passes/simplify.hpp"
#include "weft/passes/verify.hpp"

namespace weft {

namespace detail {

constexpr graph differentiate_first(graph g) {
  return differentiate(g, 0);
}

}  // namespace detail

struct pass {
  std::string_view name;
  graph (*run)(graph);
};

namespace passes {

inline constexpr pass remove_dropout{"remove-dropout", &weft::remove_dropout};
inline constexpr pass simplify{"simplify", [](graph g) { return weft::simplify(g); }};
inline constexpr pass canonicalize_axis_order{"canonicalize-axis-order",
                                              &weft::canonicalize_axis_order};
// Before differentiation: the fused operation has an adjoint.
inline constexpr pass fuse_attention{"fuse-attention",
                                     [](graph g) { return weft::fuse_attention(g); }};
inline constexpr pass read_narrow_keys{"read-narrow-keys", &weft::read_narrow_keys};
// Of the first result, a scalar.
inline constexpr pass differentiate{"differentiate", &detail::differentiate_first};
inline constexpr pass assign_layouts{"assign-layouts", &weft::assign_layouts};
// After attention is fused, which depends on how its mask is computed; before fusion, which keeps
// invariant nodes separate.
inline constexpr pass hoist{"hoist", &weft::hoist};
inline constexpr pass fuse{"fuse", [](graph g) { return weft::fuse(g); }};
inline constexpr pass copy_escaping_results{"copy-escaping-results", &weft::copy_escaping_results};

}  // namespace passes

// Of the results that are wanted. Dropout drops nothing.
inline constexpr pass inference_passes[]{passes::remove_dropout,
                                         passes::simplify,
                                         passes::canonicalize_axis_order,
                                         passes::fuse_attention,
                                         passes::read_narrow_keys,
                                         passes::assign_layouts,
                                         passes::hoist,
                                         passes::fuse,
                                         passes::copy_escaping_results};
// The same with dropout.
inline constexpr pass sampling_passes[]{passes::simplify,       passes::canonicalize_axis_order,
                                        passes::fuse_attention, passes::read_narrow_keys,
                                        passes::assign_layouts, passes::hoist,
                                        passes::fuse,           passes::copy_escaping_results};
// Of a loss, with its gradients.
inline constexpr pass training_passes[]{passes::simplify,       passes::canonicalize_axis_order,
                                        passes::fuse_attention, passes::differentiate,
                                        passes::simplify,       passes::assign_layouts,
                                        passes::hoist,          passes::fuse};

// Not constexpr: reached while compiling, they are errors that print their names.
inline void a_pass_leaves_a_malformed_graph() {
  detail::fault("passes: a pass leaves a malformed graph");
}
inline void there_is_no_such_pass() {
  detail::fault("passes: there is no pass of this name");
}

namespace detail {

// Graphs are handed from pass to pass without a name: to copy one takes a compiler as long as a
// small pass.
constexpr graph run_first_passes(const graph& g, array_view<pass> pipeline, std::size_t count) {
  if (count == 0) return g;
#ifdef WEFT_VERIFY_PASSES
  const graph result = pipeline[count - 1].run(run_first_passes(g, pipeline, count - 1));
  if (verify(result).node >= 0) a_pass_leaves_a_malformed_graph();
  return result;
#else
  if (count == 1) return pipeline[0].run(g);
  return pipeline[count - 1].run(run_first_passes(g, pipeline, count - 1));
#endif
}

}  // namespace detail

// g after the passes up to the last one called `last`; after all where none is named. With
// WEFT_VERIFY_PASSES defined, the graph is verified after each: models then take a fifth longer to
// compile.
constexpr graph run_passes(const graph& g, array_view<pass> pipeline, std::string_view last = {}) {
  std::size_t count = pipeline.size();
  if (!last.empty()) {
    while (count > 0 && pipeline[count - 1].name != last) --count;
    if (count == 0) there_is_no_such_pass();
  }
  return g.rejected ? g : detail::run_first_passes(g, pipeline, count);
}
template <std::size_t N>
constexpr graph run_passes(const graph& g, const pass (&pipeline)[N], std::string_view last = {}) {
  return run_passes(g, array_view<pass>{pipeline, N}, last);
}

}  // namespace weft
#include "weft/header_end.hpp"
