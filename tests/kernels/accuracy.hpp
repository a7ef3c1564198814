// How accurate the kernels' elementwise operations of floats are.
#pragma once

#include <cmath>

#include "kernels/arrays.hpp"
#include "reference/elementwise.hpp"

namespace weft::kernels {

// The most that a result may be off. An operation without either member is rounded to nearest.
struct accuracy {
  double ulps = 0;                                 // in units in the last place
  double (*error)(double x, double g) = nullptr;   // absolute, for operands x and g
  float dense = 10;                                // where the function changes: |x| up to this
  float most = std::numeric_limits<float>::max();  // where the bound holds: |x| up to this
};

template <op K>
constexpr accuracy rounded_to_nearest() {
  static_assert(!is_elementwise(K) || !has_flag(K, op_flag::expensive),
                "tests: an expensive elementwise operation has no bound of its error");
  return {};
}
template <op K>
inline constexpr accuracy accuracy_in_table = rounded_to_nearest<K>();
template <>
inline constexpr accuracy accuracy_in_table<op::exp>{.ulps = 1.2, .dense = 104};
template <>
inline constexpr accuracy accuracy_in_table<op::expm1>{.ulps = 1.5, .dense = 104};
template <>
inline constexpr accuracy accuracy_in_table<op::log1p>{.ulps = 1.5, .dense = 3};
template <>
inline constexpr accuracy accuracy_in_table<op::log>{.ulps = 1, .dense = 3};
template <>
inline constexpr accuracy accuracy_in_table<op::sqrt>{};
template <>
inline constexpr accuracy accuracy_in_table<op::tanh>{.ulps = 1.6};
template <>
inline constexpr accuracy accuracy_in_table<op::erf>{.ulps = 1.5, .dense = 4};
template <>
inline constexpr accuracy accuracy_in_table<op::sin>{.ulps = 1.6, .dense = 1e5f};
template <>
inline constexpr accuracy accuracy_in_table<op::cos>{.ulps = 1.6, .dense = 1e5f};
template <>
inline constexpr accuracy accuracy_in_table<op::sigmoid>{.ulps = 2.5, .dense = 104};
template <>
inline constexpr accuracy accuracy_in_table<op::pow>{.ulps = 1.25};
// The errors of erf or tanh (4 ulp of up to 1) and of x's square in the exponent, times the factors
// that they are multiplied by.
template <>
inline constexpr accuracy accuracy_in_table<op::gelu>{
    .error = [](double x, double) { return 8 * epsilon * std::abs(x); }};
template <>
inline constexpr accuracy accuracy_in_table<op::gelu_tanh> = accuracy_in_table<op::gelu>;
template <>
inline constexpr accuracy accuracy_in_table<op::gelu_adjoint>{
    .error = [](double x, double g) { return 16 * epsilon * (1 + std::abs(x)) * std::abs(g); }};
// The kernel multiplies x³ by what should be 0 for a large x, and is at least 2^-127.
template <>
inline constexpr accuracy accuracy_in_table<op::gelu_tanh_adjoint>{
    .error = accuracy_in_table<op::gelu_adjoint>.error, .most = 0x1p36f};

struct accuracy_of_operation {
  template <op K>
  constexpr accuracy operator()() const {
    return accuracy_in_table<K>;
  }
};
inline constexpr auto accuracies = table_of_operations(accuracy_of_operation());

// An element of a result of `type` as it is in double, and how far the kernel's may be from it.
struct expected_element {
  double value, tolerance;
};
inline expected_element elementwise(op kind, dtype type, const double (&in)[3]) {
  node n = make_node(kind);
  n.type = type;
  const double exact = reference::detail::elementwise(n, in[0], in[1], in[2]);
  if (type != dtype::float32) return {exact, 0};
  const accuracy& a = accuracies[kind];
  const auto rounded = static_cast<float>(exact);
  const double tolerance =
      a.error ? a.error(in[0], in[1]) + 0x1p-149 : a.ulps * ulp(exact);  // the least subnormal
  if (tolerance > 0 && std::isfinite(rounded)) return {exact, tolerance};
  return {static_cast<double>(rounded), 0};
}

// Whether all operands of an elementwise operation may be of T.
template <class T>
constexpr bool takes(op k) {
  if (!is_elementwise(k)) return false;
  using e = element_types;
  switch (info(k).types) {
    case e::floats:
      return std::is_same_v<T, float>;
    case e::numbers:
    case e::comparison:
      return sizeof(T) == 4;
    case e::same:
    case e::equality:
      return true;
    case e::booleans:
      return sizeof(T) == 1;
    case e::mixed:
      break;
  }
  return false;
}

// The operations for which this is true.
template <class F>
std::vector<op> operations_where(F holds) {
  std::vector<op> all;
  for (int k = 0; k < op_count; ++k)
    if (holds(static_cast<op>(k))) all.push_back(static_cast<op>(k));
  return all;
}

}  // namespace weft::kernels
