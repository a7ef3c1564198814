// Reference evaluation of elementwise operations, one element at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

#include "weft/graph/graph.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::reference {

namespace detail {

inline double maximum(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}
inline double minimum(double a, double b) {
  return a < b || std::isnan(a) ? a : b;
}
// The standard normal distribution, and its density.
inline double phi(double x) {
  return std::erfc(-x * std::sqrt(0.5)) / 2;
}
inline double density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
// The argument of tanh in gelu_tanh, and its derivative.
inline double gelu_inner(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}
inline double gelu_inner_slope(double x) {
  return std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
}
inline double gelu_tanh_slope(double x) {
  double const t = std::tanh(gelu_inner(x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * gelu_inner_slope(x);
}

inline double cast(dtype to, double x) {
  if (to == dtype::boolean) return x != 0;
  if (to != dtype::int32) return x;
  using limits = std::numeric_limits<std::int32_t>;
  return std::isnan(x) ? 0
                       : std::trunc(std::clamp(x, double{limits::min()}, double{limits::max()}));
}

// One element of an elementwise operation, from one of each operand.
template <op>
struct element;

// clang-format off
template <> struct element<op::copy> { static double of(double x) { return x; } };
template <> struct element<op::exp> { static double of(double x) { return std::exp(x); } };
template <> struct element<op::log> { static double of(double x) { return std::log(x); } };
template <> struct element<op::sqrt> { static double of(double x) { return std::sqrt(x); } };
template <> struct element<op::tanh> { static double of(double x) { return std::tanh(x); } };
template <> struct element<op::erf> { static double of(double x) { return std::erf(x); } };
template <> struct element<op::sin> { static double of(double x) { return std::sin(x); } };
template <> struct element<op::cos> { static double of(double x) { return std::cos(x); } };
template <> struct element<op::sigmoid> { static double of(double x) { return 1 / (1 + std::exp(-x)); } };
template <> struct element<op::relu> { static double of(double x) { return maximum(x, 0); } };
template <> struct element<op::gelu> { static double of(double x) { return x * phi(x); } };
template <> struct element<op::gelu_tanh> { static double of(double x) { return x / 2 * (1 + std::tanh(gelu_inner(x))); } };
template <> struct element<op::logical_not> { static double of(double x) { return x == 0; } };
template <> struct element<op::divide> { static double of(double x, double y) { return x / y; } };
template <> struct element<op::maximum> { static double of(double x, double y) { return maximum(x, y); } };
template <> struct element<op::minimum> { static double of(double x, double y) { return minimum(x, y); } };
template <> struct element<op::less> { static double of(double x, double y) { return x < y; } };
template <> struct element<op::less_equal> { static double of(double x, double y) { return x <= y; } };
template <> struct element<op::equal> { static double of(double x, double y) { return x == y; } };
template <> struct element<op::not_equal> { static double of(double x, double y) { return x != y; } };
template <> struct element<op::logical_and> { static double of(double x, double y) { return x != 0 && y != 0; } };
template <> struct element<op::logical_or> { static double of(double x, double y) { return x != 0 || y != 0; } };
template <> struct element<op::relu_adjoint> { static double of(double x, double y) { return x > 0 ? y : 0; } };
template <> struct element<op::gelu_adjoint> { static double of(double x, double y) { return y * (phi(x) + x * density(x)); } };
template <> struct element<op::gelu_tanh_adjoint> { static double of(double x, double y) { return y * gelu_tanh_slope(x); } };
template <> struct element<op::where> { static double of(double c, double x, double y) { return c != 0 ? x : y; } };
// Arithmetic of int32 is modulo 2^32: of int64, and wrapped.
template <> struct element<op::negate> { template <class T> static T of(T x) { return -x; } };
template <> struct element<op::add> { template <class T> static T of(T x, T y) { return x + y; } };
template <> struct element<op::subtract> { template <class T> static T of(T x, T y) { return x - y; } };
template <> struct element<op::multiply> { template <class T> static T of(T x, T y) { return x * y; } };
// clang-format on

// With as many operands as E takes.
template <class E, class T>
auto element_of(T x, T y, T z) {
  if constexpr (requires { E::of(x, y, z); })
    return E::of(x, y, z);
  else if constexpr (requires { E::of(x, y); })
    return E::of(x, y);
  else
    return E::of(x);
}
struct element_of_operation {
  template <op K>
  constexpr auto operator()() const -> double (*)(const node&, double, double, double) {
    if constexpr (K == op::cast) {
      return [](const node& n, double x, double, double) { return cast(n.type, x); };
    } else if constexpr (!is_elementwise(K) || K == op::dropout) {
      return nullptr;
    } else {
      static_assert(
          requires { sizeof(element<K>); },
          "reference: an elementwise operation has no element<op::...> in elementwise.hpp");
      return [](const node& n, double x, double y, double z) -> double {
        if constexpr (requires { &element<K>::template of<std::int64_t>; })
          if (n.type == dtype::int32)
            return static_cast<std::int32_t>(element_of<element<K>, std::int64_t>(
                static_cast<std::int64_t>(x), static_cast<std::int64_t>(y),
                static_cast<std::int64_t>(z)));
        return element_of<element<K>>(x, y, z);
      };
    }
  }
};

// Operands that the operation does not have are 0.
inline double elementwise(const node& n, double x, double y, double z) {
  static constexpr auto of = table_of_operations(element_of_operation());
  return of[n.kind](n, x, y, z);
}

// The factor by which a dropout multiplies the element with id `number`.
inline double kept_share(const node& numbers, const kernels::random_state& random, double number) {
  auto const salt = static_cast<std::uint32_t>(numbers.start);
  bool const dropped =
      kernels::is_dropped(kernels::random_word(random, salt, static_cast<std::uint32_t>(number)),
                          drop_below(numbers.scalar));
  return dropped ? 0 : 1 / (1 - numbers.scalar);
}

}  // namespace detail

}  // namespace weft::reference
