// The parameters of a model: one contiguous block, whatever graphs run on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/view.hpp"

namespace weft {

// One parameter. Its elements are dense, in the order of its axes, each axis at its bound.
struct parameter {
  std::string_view name;
  std::span<const std::size_t> extents;
  std::span<float> values;
};

// A block of parameters as the tables of a program describe it. Copies share the block.
class parameter_block {
 public:
  // A new block; every parameter begins as its initialiser says, with numbers from the seed.
  parameter_block(const program& tables, std::uint64_t seed);
  // In the caller's memory, aligned to 64 bytes, which is taken as it is. Throws weft::error where
  // it is too small or not aligned.
  parameter_block(const program& tables, std::span<std::byte> bytes);

  // Begins again. The numbers come from a counter-based generator over the seed, the parameter's
  // name and the place of the element: the same seed gives the same bits, whatever else the model
  // has.
  void initialize(std::uint64_t seed);

  std::size_t count() const { return tables_->parameters.size(); }
  parameter operator[](std::size_t i) const;
  // Throws weft::error where the model has no such parameter.
  parameter find(std::string_view name) const;
  // The number of elements in all, without the gaps that keep each parameter aligned.
  std::size_t elements() const;

  std::byte* data() const { return bytes_.get(); }
  // The whole block as floats; the gaps hold zeros.
  std::span<float> floats() const;

 private:
  const program* tables_;
  std::shared_ptr<std::byte[]> bytes_;
};

namespace detail {

// What a message says of a parameter that is asked for: what its name stands for in the model, or
// for lack of it the parameters there are, as many as the message has room for.
template <class...>
struct parameters_there_are {};
template <class Unit, fixed_string Name>
struct describe_parameters {
  static constexpr message make() {
    auto const& g = Unit::g;
    message m, all;
    for (int i = 0; i < g.parameter_count; ++i) {
      leaf const& p = g.parameters[i];
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

}  // namespace detail

// The parameters of a model.
template <model_like Model>
class parameters : public parameter_block {
  using code = lowered<parameters_only<Model>>;

  static constexpr int index(std::string_view name) {
    auto const& g = parameters_only<Model>::g;
    for (int i = 0; i < g.parameter_count; ++i)
      if (g.name(g.parameters[i].name) == name) return i;
    return -1;
  }
  template <fixed_string Name, class... Axes>
  static constexpr bool has() {
    if (parameters_only<Model>::g.rejected) return true;
    int const i = index(Name.view());
    auto const& g = parameters_only<Model>::g;
    return i >= 0 && g.nodes[g.parameters[i].node].axes == axes_of(shape<Axes...>{});
  }

 public:
  explicit parameters(std::uint64_t seed = 0) : parameter_block(code::program, seed) {}
  explicit parameters(std::span<std::byte> bytes) : parameter_block(code::program, bytes) {}

  // The bytes of the block.
  static constexpr std::size_t bytes = code::tables.parameter_bytes;

  // The parameter with a name, which has these axes.
  template <fixed_string Name, class... Axes>
  requires(has<Name, Axes...>()) view<float, shape<Axes...>> get()
  const {
    std::array<std::size_t, sizeof...(Axes)> const lengths{Axes::extent...};
    if constexpr (parameters_only<Model>::g.rejected)
      return {nullptr, lengths, detail::dense_strides(lengths)};
    else {
      constexpr parameter_ref const& r = code::tables.parameters[index(Name.view())];
      return {reinterpret_cast<float*>(data() + r.offset), lengths, detail::dense_strides(lengths)};
    }
  }

 private:
  WEFT_REJECT_CALL(
      "parameters: the model has no parameter of this name with these axes",
      (detail::parameters_named<parameters_only<Model>, Name>), (fixed_string Name, class... Axes),
      (!has<Name, Axes...>()), view<float, shape<Axes...>> get() const {
        std::array<std::size_t, sizeof...(Axes)> const none{};
        return {nullptr, none, detail::dense_strides(none)};
      })
};

}  // namespace weft
