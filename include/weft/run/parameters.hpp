// The parameters of a model: one contiguous block, shared by all graphs that run on it.
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

// One parameter: float32 values, contiguous and row-major, every axis at its bound. It refers to a
// parameter_block, which must outlive it.
struct parameter {
  std::string_view name;                 // the path: the scopes and the name, joined by dots
  std::span<const std::size_t> extents;  // of its axes, in their order
  std::span<float> values;               // the product of the extents
};

// The block of parameters that a program's tables describe. Copies share the memory. Each parameter
// is aligned to 64 bytes.
class parameter_block {
 public:
  // Allocates a block and initialises it from the seed.
  parameter_block(const program& tables, std::uint64_t seed);
  // Uses the caller's memory with its present values; it must outlive the block. Throws weft::error
  // where it is smaller than the program's parameter_bytes or not aligned to 64 bytes.
  parameter_block(const program& tables, std::span<std::byte> bytes);

  // Sets every parameter as its initializer says (graph/initializer.hpp). Random values come from a
  // counter-based generator keyed by the seed and the parameter's name and indexed by the element:
  // the same seed gives the same bits, whatever else the model contains.
  void initialize(std::uint64_t seed);

  // The number of parameters.
  std::size_t count() const { return tables_->parameters.size(); }
  // Parameter i, i < count().
  parameter operator[](std::size_t i) const;
  // The parameter with this name. Throws weft::error where the model has none.
  parameter find(std::string_view name) const;
  // The total number of elements, without alignment padding.
  std::size_t elements() const;

  // The address of the block.
  std::byte* data() const { return bytes_.get(); }
  // The whole block as floats, alignment padding included; the padding of an allocated block is 0.
  std::span<float> floats() const;

 private:
  const program* tables_;
  std::shared_ptr<std::byte[]> bytes_;
};

namespace detail {

// The text of a compile error about a parameter: its dtype and axes in the model or, if there is
// none with this name, the names of the model's parameters, up to the message's capacity.
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

// The parameters of a model, with typed access by name. Copies share the memory, so modules and
// trainers made from one see each other's changes.
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
  // Allocates a block and initialises it from the seed.
  explicit parameters(std::uint64_t seed = 0) : parameter_block(code::program, seed) {}
  // Uses the caller's memory, of `bytes` bytes, with its present values: see parameter_block.
  explicit parameters(std::span<std::byte> bytes) : parameter_block(code::program, bytes) {}

  // The size of the block in bytes, padding included.
  static constexpr std::size_t bytes = code::tables.parameter_bytes;

  // The parameter `Name` [Axes...], every axis at its bound, to read and to write:
  // get<"head.weight", Vocab, Embed>(). Another name or other axes do not compile. The view is
  // valid while a copy of the block is alive.
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
