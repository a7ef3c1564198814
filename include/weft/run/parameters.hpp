// The parameters of a model, shared by all graphs that run on them.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/parameter_block.hpp"
#include "weft/run/view.hpp"
#include "weft/weights/precision.hpp"

namespace weft {

namespace detail {

// The text of a compile error about a parameter: its dtype and axes in the model or, if there is
// none with this name, the names of the model's parameters, up to the message's capacity.
template <class...>
struct parameters_there_are {};
template <class Unit, fixed_string Name>
struct describe_parameters {
  static constexpr message make() {
    const auto& g = Unit::g;
    message m, all;
    for (int i = 0; i < g.parameter_count; ++i) {
      const leaf& p = g.parameters[i];
      if (i > 0) all << ", ";
      all << g.name(p.name);
      if (g.name(p.name) == Name.view())
        m = describe(g.name(p.name), dtype::float32, g.nodes[p.node].axes);
    }
    return m.size > 0 ? m : all;
  }
};
template <class Unit, fixed_string Name>
using parameters_named =
    parameters_there_are<spelled_t<text_of<describe_parameters<Unit, Name>>()>>;

constexpr bool same_extents(const axis_list& a, const axis_list& b) {
  bool same = a.count == b.count;
  for (int i = 0; i < a.count && same; ++i) same = a.at[i]->extent == b.at[i]->extent;
  return same;
}
// The index of the first parameter of Model that Other does not have, or has with other extents; -1
// for none. The search begins after the last that was found, as most models have the same order: a
// compiler evaluates it in a second or more where it begins anew for each of 300 parameters.
template <class Other, class Model>
constexpr int find_lacking() {
  const auto& g = parameters_only<Model>::g;
  const auto& other = parameters_only<Other>::g;
  if (g.rejected || other.rejected) return -1;
  int next = 0;
  for (int i = 0; i < g.parameter_count; ++i) {
    const std::string_view name = g.name(g.parameters[i].name);
    int tried = 0;
    for (; tried < other.parameter_count; ++tried, ++next) {
      if (next == other.parameter_count) next = 0;
      if (other.name(other.parameters[next].name) == name) break;
    }
    if (tried == other.parameter_count ||
        !same_extents(g.nodes[g.parameters[i].node].axes,
                      other.nodes[other.parameters[next].node].axes))
      return i;
    ++next;
  }
  return -1;
}
template <class Other, class Model>
inline constexpr int lacking = find_lacking<Other, Model>();
template <class Model>
inline constexpr int lacking<Model, Model> = -1;
template <class Other, class Model>
constexpr bool has_parameters_of() {
  return lacking<Other, Model> < 0;
}
template <class Other, class Model>
struct describe_lacking {
  static constexpr message make() {
    const auto& g = parameters_only<Model>::g;
    constexpr int i = lacking<Other, Model>;
    if (i < 0) return {};
    const leaf& p = g.parameters[i];
    return describe(g.name(p.name), dtype::float32, g.nodes[p.node].axes);
  }
};

}  // namespace detail

// The parameters of a model, with typed access by name. Copies share the memory, so modules and
// trainers made from one see each other's changes.
template <model_like Model>
class parameters : public parameter_block {
  using code = lowered<parameters_only<Model>>;

  static constexpr int index(std::string_view name) {
    const auto& g = parameters_only<Model>::g;
    for (int i = 0; i < g.parameter_count; ++i)
      if (g.name(g.parameters[i].name) == name) return i;
    return -1;
  }
  template <fixed_string Name, class... Axes>
  static constexpr bool has() {
    if (parameters_only<Model>::g.rejected) return true;
    const int i = index(Name.view());
    const auto& g = parameters_only<Model>::g;
    return i >= 0 && g.nodes[g.parameters[i].node].axes == axes_of(shape<Axes...>{});
  }

 public:
  // Allocates a block and initializes it from the seed.
  explicit parameters(parameter_options options = {}) : parameter_block(code::program, options) {}
  // Uses the caller's memory, of `bytes` bytes, with its present values: see parameter_block.
  explicit parameters(std::span<std::byte> memory) : parameter_block(code::program, memory) {}
  // With the values of a file, where the file has them in memory if it can:
  // weft::parameters<model>(weft::tensor_file("model.safetensors")).
  explicit parameters(const parameter_source& source) : parameter_block(code::program, source) {}
  // Shares the memory of another model's parameters, such as the same layers with a smaller batch:
  // weft::module<step> one(many.parameters()). The other model has all parameters of this one, with
  // the same extents. What a frozen module keeps only packed is shared by weft::sharing.
  template <model_like Other>
  requires(detail::has_parameters_of<Other, Model>()) parameters(const parameters<Other>& shared)
      : parameter_block(code::program, static_cast<const parameter_block&>(shared)) {}

  // Uses this memory: what a module keeps of a file that it has packed.
  explicit parameters(parameter_memory memory)
      : parameter_block(code::program, std::move(memory)) {}

  // The same values in a block of their own.
  parameters copy() const { return parameters(this->copied()); }

  // The size of the block in bytes, padding included.
  static constexpr std::size_t bytes = code::tables.parameter_bytes;

  // The parameter `Name` [Axes...], every axis at its bound, to read and to write:
  // get<"head.weight", Vocab, Embed>(). Another name or other axes do not compile. The view is
  // valid while a copy of the block is alive.
  template <fixed_string Name, class... Axes>
  requires(has<Name, Axes...>()) view<float, shape<Axes...>> get()
  const {
    const std::array<std::size_t, sizeof...(Axes)> lengths{Axes::extent...};
    if constexpr (parameters_only<Model>::g.rejected)
      return {nullptr, lengths, detail::dense_strides(lengths)};
    else {
      constexpr auto i = static_cast<std::size_t>(index(Name.view()));
      return {(*this)[i].values.data(), lengths, detail::dense_strides(lengths)};
    }
  }

 private:
  WEFT_REJECT_CALL(
      "parameters: the other model lacks a parameter of this one, or has it with other "
      "extents",
      (detail::parameters_there_are<
          detail::spelled_t<detail::text_of<detail::describe_lacking<Other, Model>>()>>),
      (model_like Other), (!detail::has_parameters_of<Other, Model>()),
      parameters(const parameters<Other>&)
      : parameters(parameter_options{}){})
  WEFT_REJECT_CALL(
      "parameters: the model has no parameter of this name with these axes",
      (detail::parameters_named<parameters_only<Model>, Name>), (fixed_string Name, class... Axes),
      (!has<Name, Axes...>()), view<float, shape<Axes...>> get() const {
        std::array<std::size_t, sizeof...(Axes)> const none{};
        return {nullptr, none, detail::dense_strides(none)};
      })
};

// The parameters of the model without updates of nn::lora: W + alpha / Rank B A, rounded once, in
// place of W. alpha is that of the layers' options. Throws weft::error where Plain has no such W.
template <model_like Plain, model_like Model>
requires(detail::has_parameters_of<Model, Plain>())
    parameters<Plain> merged_lora(const parameters<Model>& with_updates, double alpha) {
  const auto merged = parameters<Plain>(with_updates).copy();
  detail::add_lora(merged, with_updates, alpha);
  return merged;
}

// The parameters of the model without nn::batch_norm: each layer, an nn::linear or nn::convolution
// with a bias in Plain and with or without one in Model, gives what its norm makes of it, weight
// times weight / sqrt(running_var + epsilon), rounded once. `layers` are names in pairs, as in
// folded_batch_norm<plain>(p, {{"conv1", "bn1"}, {"conv2", "bn2"}}). Throws weft::error where a
// model has no such parameter.
template <model_like Plain, model_like Model>
parameters<Plain> folded_batch_norm(const parameters<Model>& with_norms,
                                    std::initializer_list<layer_and_norm> layers,
                                    double epsilon = 1e-5) {
  const parameters<Plain> folded(parameter_options{});
  detail::fold_norms(folded, with_norms, layers, epsilon);
  return folded;
}

}  // namespace weft
#include "weft/header_end.hpp"
