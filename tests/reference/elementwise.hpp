// Reference evaluation of elementwise operations, one element at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "reference/formulas.hpp"
#include "weft/graph/attributes.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::reference {

namespace detail {

// The functions that formulas are written in.
struct functions {
  static double exp(double x) { return std::exp(x); }
  static double log(double x) { return std::log(x); }
  static double expm1(double x) { return std::expm1(x); }
  static double log1p(double x) { return std::log1p(x); }
  static double round(double x) { return std::nearbyint(x); }
  static double sqrt(double x) { return std::sqrt(x); }
  static double tanh(double x) { return std::tanh(x); }
  static double erf(double x) { return std::erf(x); }
  static double sin(double x) { return std::sin(x); }
  static double cos(double x) { return std::cos(x); }
  static double pow(double x, double y) { return std::pow(x, y); }
  template <class T>
  static T maximum(T a, T b) {
    return a > b || a != a ? a : b;
  }
  template <class T>
  static T minimum(T a, T b) {
    return a < b || a != a ? a : b;
  }
  // The standard normal distribution, and its density.
  static double normal(double x) { return std::erfc(-x * std::sqrt(0.5)) / 2; }
  static double normal_density(double x) {
    return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  }
  // The argument of tanh in gelu_tanh, and the derivative of gelu_tanh.
  static double gelu_inner(double x) {
    return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  }
  static double gelu_tanh_slope(double x) {
    const double t = std::tanh(gelu_inner(x));
    const double inner_slope = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
    return (1 + t) / 2 + x / 2 * (1 - t * t) * inner_slope;
  }
};

inline double cast(dtype to, double x) {
  if (to == dtype::boolean) return x != 0;
  if (to == dtype::bfloat16) return static_cast<double>(bfloat16(static_cast<float>(x)));
  if (to != dtype::int32) return x;
  using limits = std::numeric_limits<std::int32_t>;
  return std::isnan(x) ? 0
                       : std::trunc(std::clamp(x, double{limits::min()}, double{limits::max()}));
}

// An element of an operation's result, computed in T.
template <op K, class T>
T element_of(T x, T y, T z) {
  const functions m;
  constexpr int operands = operands_of_elementwise(K);
  if constexpr (operands == 1)
    return static_cast<T>(formula<K>::of(m, x));
  else if constexpr (operands == 2)
    return static_cast<T>(formula<K>::of(m, x, y));
  else
    return static_cast<T>(formula<K>::of(m, x, y, z));
}
struct element_of_operation {
  template <op K>
  constexpr auto operator()() const -> double (*)(const node&, double, double, double) {
    if constexpr (K == op::cast) {
      return [](const node& n, double x, double, double) { return cast(n.type, x); };
    } else if constexpr (!is_elementwise(K) || K == op::dropout) {
      return nullptr;
    } else {
      constexpr bool has_formula = requires {
        sizeof(formula<K>);
      };
      static_assert(has_formula,
                    "reference: an elementwise operation has no formula in reference/formulas.hpp");
      if constexpr (!has_formula)
        return nullptr;
      else
        return [](const node& n, double x, double y, double z) -> double {
          if constexpr (info(K).types == element_types::numbers)
            if (n.type == dtype::int32)
              return static_cast<std::int32_t>(element_of<K>(static_cast<std::int64_t>(x),
                                                             static_cast<std::int64_t>(y),
                                                             static_cast<std::int64_t>(z)));
          return element_of<K>(x, y, z);
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
  const auto salt = static_cast<std::uint32_t>(rng_stream(numbers));
  const bool dropped =
      kernels::is_dropped(kernels::random_word(random, salt, static_cast<std::uint32_t>(number)),
                          drop_threshold(dropout_rate(numbers)));
  return dropped ? 0 : 1 / (1 - dropout_rate(numbers));
}

}  // namespace detail

}  // namespace weft::reference
