// The axis of a model's inputs that a batch is cut along. Internal: no stability promise.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "weft/axes/axis.hpp"
#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"

namespace weft::detail {

// Of the inputs of a compilation unit. An input has the axis where one of its axes is Batch or an
// alias of it; the others are the same for all examples.
template <class Source, class Batch>
struct batch_axis {
  using code = lowered<Source>;
  // One for each input.
  using arguments = std::array<binding, code::tables.inputs.size()>;

  // Which axis of an input it is; -1: none.
  static constexpr int of(int input) {
    const auto& axes = Source::g.nodes[Source::g.inputs[input].node].axes;
    for (int a = 0; a < axes.count; ++a)
      if (axes.at[a]->length_axis() == info_of<Batch>.length_axis()) return a;
    return -1;
  }
  // Whether an input has it; true for a model that is rejected.
  static constexpr bool exists() {
    for (int i = 0; i < Source::g.input_count; ++i)
      if (of(i) >= 0) return true;
    return Source::g.rejected;
  }

  // Its length, which all arguments agree on. Throws weft::error where they do not.
  static std::size_t length(const arguments& bound) {
    std::size_t n = 0;
    int from = -1;
    for (int i = 0; i < Source::g.input_count; ++i) {
      const int axis = of(i);
      if (axis < 0) continue;
      const std::size_t length =
          bound[static_cast<std::size_t>(i)].length[static_cast<std::size_t>(axis)];
      if (from >= 0 && length != n)
        throw error("argument '" + name(i) + "': axis " + std::string(info_of<Batch>.name) +
                    " has length " + std::to_string(length) + ", and " + std::to_string(n) +
                    " in '" + name(from) + "'");
      n = length;
      from = i;
    }
    return n;
  }

  // The arguments for the examples [begin, begin + size).
  static arguments slices(arguments bound, std::size_t begin, std::size_t size) {
    for (int i = 0; i < Source::g.input_count; ++i) {
      const int axis = of(i);
      if (axis < 0) continue;
      binding& b = bound[static_cast<std::size_t>(i)];
      const auto a = static_cast<std::size_t>(axis);
      b.data = static_cast<const std::byte*>(b.data) + static_cast<std::ptrdiff_t>(begin) *
                                                           b.stride[a] *
                                                           bytes(code::program.inputs[i].type);
      b.length[a] = size;
    }
    return bound;
  }

 private:
  static std::string name(int input) {
    return std::string(code::program.name(code::program.inputs[input].name));
  }
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
