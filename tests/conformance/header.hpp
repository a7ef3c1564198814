// The header of an ONNX node test: the operator, its attributes, and its input and output tensors.
// CMake writes one for each file.
#pragma once

#include <algorithm>
#include <boost/hana/bool.hpp>
#include <boost/hana/filter.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/graph/trace.hpp"

namespace weft::conformance {

struct attribute {
  std::string_view name;
  double number;
  std::string_view text;  // of an attribute that is not a number
};

struct tensor_facts {
  std::string_view name, type;  // the type as in safetensors; empty if the file lacks the tensor
  int rank;
  std::size_t shape[max_rank];

  // The extent of an axis, counted from the last; beyond the rank it is 1, as for broadcast
  // tensors.
  constexpr std::size_t from_behind(int i) const { return i < rank ? shape[rank - 1 - i] : 1; }
  constexpr std::size_t last() const { return from_behind(0); }
};

// Lists end with the first entry without a name.
inline constexpr int most_in_list = 16;

struct header {
  std::string_view op_type;
  int opset;
  attribute attributes[most_in_list];
  tensor_facts inputs[most_in_list], outputs[most_in_list];

  constexpr attribute find(std::string_view name, double number = 0) const {
    for (const auto& a : attributes)
      if (!a.name.empty() && a.name == name) return a;
    return {"", number, ""};
  }
  constexpr double number(std::string_view name, double otherwise = 0) const {
    return find(name, otherwise).number;
  }
  constexpr std::size_t extent(std::string_view name) const {
    return static_cast<std::size_t>(number(name));
  }
  constexpr bool has(std::string_view attribute) const { return !find(attribute).name.empty(); }
  constexpr tensor_facts input(std::string_view name) const { return find(inputs, name); }
  constexpr bool has_input(std::string_view name) const { return !input(name).name.empty(); }
  constexpr bool has_output(std::string_view name) const {
    return !find(outputs, name).name.empty();
  }

 private:
  static constexpr tensor_facts find(const tensor_facts (&list)[most_in_list],
                                     std::string_view name) {
    for (const auto& t : list)
      if (!t.name.empty() && t.name == name) return t;
    return {};
  }
};

// The dtype that a tensor of the file has in the model: half precision becomes float32, and long
// integers int32.
enum class kind { none, floating, integer, logical };
constexpr kind kind_of(std::string_view type) {
  if (type == "F32" || type == "F16" || type == "BF16") return kind::floating;
  if (type == "I32" || type == "I64") return kind::integer;
  return type == "BOOL" ? kind::logical : kind::none;
}
template <kind K>
using element_of_kind =
    std::conditional_t<K == kind::floating, float,
                       std::conditional_t<K == kind::integer, std::int32_t, bool>>;

// The input Name of [Axes...].
template <const header& H, fixed_string Name, class... Axes>
constexpr auto input(scope s, shape<Axes...>) {
  return s.input<Name, element_of_kind<kind_of(H.input(Name.view()).type)>, Axes...>();
}

namespace detail {

template <const header& H, fixed_string Name, int Behind, class... Axes, int... I>
constexpr auto axes_present(shape<Axes...>, std::integer_sequence<int, I...>) {
  using weft::detail::operator|;
  constexpr tensor_facts t = H.input(Name.view());
  constexpr int last = sizeof...(Axes) - 1 + Behind;
  return (shape<>{} | ... |
          std::conditional_t<t.from_behind(last - I) != 1, shape<Axes>, shape<>>{});
}

}  // namespace detail

// The axes of the input Name if it is broadcast to [Axes..., Behind more axes] as in numpy: the
// last of Axes, without those along which its extent is 1.
template <const header& H, fixed_string Name, int Behind, class... Axes>
constexpr auto broadcast_axes(shape<Axes...> whole) {
  return detail::axes_present<H, Name, Behind>(whole,
                                               std::make_integer_sequence<int, sizeof...(Axes)>{});
}

// The input Name, broadcast to [Axes...].
template <const header& H, fixed_string Name, class... Axes>
constexpr auto broadcast_input(scope s, shape<Axes...> whole) {
  return input<H, Name>(s, broadcast_axes<H, Name, 0>(whole));
}

// Whether broadcast_input takes the tensor.
template <class... Extents>
constexpr bool broadcasts(const tensor_facts& t, Extents... extents) {
  const std::size_t whole[]{extents...};
  const int count = sizeof...(extents);
  for (int i = 0; i < t.rank; ++i)
    if (t.from_behind(i) != 1 && (i >= count || t.from_behind(i) != whole[count - 1 - i]))
      return false;
  return true;
}

// Those of the results that the file has.
template <const header& H, fixed_string... Names, class... Xs>
constexpr auto results_in_file(const named_result<Names, Xs>&... all) {
  const auto in_file = []<fixed_string Name, class X>(const named_result<Name, X>&) {
    return hana::bool_c<H.has_output(Name.view())>;
  };
  return hana::unpack(hana::filter(hana::make_tuple(all...), in_file),
                      [](const auto&... some) { return results(some...); });
}

}  // namespace weft::conformance
