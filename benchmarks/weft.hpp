// Weft's contenders: modules as a user runs them.
#pragma once

#include <weft/weft.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/floats.hpp"

namespace bench {

// The elements of a view, in order.
template <class... Axes>
std::vector<float> elements(const weft::view<const float, weft::shape<Axes...>>& from) {
  const weft::array<float, Axes...> dense(from);
  return {dense.begin(), dense.end()};
}

// A copy of a parameter, for the peers.
inline floats copy_of(const weft::parameter_block& parameters, std::string_view name) {
  const weft::parameter from = parameters.find(name);
  floats copy(from.values.size());
  std::ranges::copy(from.values, copy.begin());
  return copy;
}

// Sets a parameter.
inline void set(const weft::parameter_block& parameters, std::string_view name, const floats& to) {
  std::ranges::copy(to, parameters.find(name).values.begin());
}

template <class Model>
std::shared_ptr<weft::module<Model>> new_module() {
  return std::make_shared<weft::module<Model>>();
}

// Which runs code that weft_add_model generated.
template <class Model>
std::shared_ptr<weft::module<Model>> new_generated_module() {
  return std::make_shared<weft::module<Model>>(weft::generated<Model>());
}

// run(net) runs a module with its arguments, and gives its results.
template <class Module, class Run>
contender weft_contender(std::shared_ptr<Module> net, Run run, int threads = 1) {
  return {timed(threads, [net, run] { run(*net); }),
          [net, run] { return elements(run(*net).template get<"result">()); }};
}

}  // namespace bench
