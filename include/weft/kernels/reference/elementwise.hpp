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

// Arithmetic of int32 is modulo 2^32.
inline double wrapped(op kind, double x, double y) {
  auto const a = static_cast<std::int64_t>(x), b = static_cast<std::int64_t>(y);
  return static_cast<std::int32_t>(kind == op::negate     ? -a
                                   : kind == op::add      ? a + b
                                   : kind == op::subtract ? a - b
                                                          : a * b);
}

// One element of an elementwise operation; operands that it does not have are 0.
inline double elementwise(const node& n, double x, double y, double z) {
  if (n.type == dtype::int32 && (n.kind == op::negate || n.kind == op::add ||
                                 n.kind == op::subtract || n.kind == op::multiply))
    return wrapped(n.kind, x, y);
  // clang-format off
  switch (n.kind) {
    case op::copy: return x;
    case op::cast: return cast(n.type, x);
    case op::negate: return -x;
    case op::exp: return std::exp(x);
    case op::log: return std::log(x);
    case op::sqrt: return std::sqrt(x);
    case op::tanh: return std::tanh(x);
    case op::erf: return std::erf(x);
    case op::sin: return std::sin(x);
    case op::cos: return std::cos(x);
    case op::sigmoid: return 1 / (1 + std::exp(-x));
    case op::relu: return maximum(x, 0);
    case op::gelu: return x * phi(x);
    case op::gelu_tanh: return x / 2 * (1 + std::tanh(gelu_inner(x)));
    case op::logical_not: return x == 0;
    case op::add: return x + y;
    case op::subtract: return x - y;
    case op::multiply: return x * y;
    case op::divide: return x / y;
    case op::maximum: return maximum(x, y);
    case op::minimum: return minimum(x, y);
    case op::less: return x < y;
    case op::less_equal: return x <= y;
    case op::equal: return x == y;
    case op::not_equal: return x != y;
    case op::logical_and: return x != 0 && y != 0;
    case op::logical_or: return x != 0 || y != 0;
    case op::relu_adjoint: return x > 0 ? y : 0;
    case op::gelu_adjoint: return y * (phi(x) + x * density(x));
    case op::gelu_tanh_adjoint: return y * gelu_tanh_slope(x);
    case op::where: return x != 0 ? y : z;
    default: throw std::logic_error("not elementwise: " + std::string(name_of(n.kind)));
  }
  // clang-format on
}

// The factor by which a dropout multiplies the element with id `number`.
inline double kept_share(const node& numbers, const kernels::random_state& random, double number) {
  auto const salt = static_cast<std::uint32_t>(numbers.start);
  bool const dropped =
      kernels::is_dropped(kernels::random_word(random, salt, static_cast<std::uint32_t>(number)),
                          kernels::drop_below(numbers.scalar));
  return dropped ? 0 : 1 / (1 - numbers.scalar);
}

}  // namespace detail

}  // namespace weft::reference
