// Graphs and programs made at run time, by the same functions that a compiler evaluates for a
// model, which takes the compiler far longer.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"

namespace weft::testing {

// The result of make, on the heap. make runs with a stack that is large enough for the graphs that
// passes work on.
std::unique_ptr<const graph> kept(const std::function<graph()>& make);

// The model and the results of a weft::inference, weft::sampling or weft::training.
struct run_time_source {
  enum { inference, sampling, training } kind;
  graph_parts model;
  std::vector<std::string_view> results;
};
namespace detail {
template <class Unit>
struct source_of;
template <class Model, fixed_string... Results>
struct source_of<inference<Model, Results...>> {
  static run_time_source get() {
    return {run_time_source::inference, traced_graph<Model>.parts(), {Results.view()...}};
  }
};
template <class Model, fixed_string... Results>
struct source_of<sampling<Model, Results...>> {
  static run_time_source get() {
    return {run_time_source::sampling, traced_graph<Model>.parts(), {Results.view()...}};
  }
};
template <class Model, fixed_string Loss>
struct source_of<training<Model, Loss>> {
  static run_time_source get() {
    return {run_time_source::training, traced_graph<Model>.parts(), {Loss.view()}};
  }
};
}  // namespace detail
template <class Unit>
run_time_source source_of() {
  return detail::source_of<Unit>::get();
}

// The graph that a program should compute, before simplification.
std::unique_ptr<const graph> plain_graph(const run_time_source& s);
template <class Unit>
std::unique_ptr<const graph> plain_graph() {
  return plain_graph(source_of<Unit>());
}

// The result of Unit::make().
std::unique_ptr<const graph> compiled_graph(const run_time_source& s);
template <class Unit>
std::unique_ptr<const graph> compiled_graph() {
  return compiled_graph(source_of<Unit>());
}

// The program that a graph is lowered to.
class run_time_program {
 public:
  explicit run_time_program(const graph& g);
  // Why there is no program.
  model_fault fault() const { return draft_->count.fault; }

 private:
  std::unique_ptr<const program_builder> draft_;

 public:
  const weft::program program;
};

}  // namespace weft::testing
