// Reference evaluation of rowwise operations, one row at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "weft/kernels/reference/elementwise.hpp"

namespace weft::reference {

namespace detail {

// One row of a rowwise operation; g is read by the adjoints only.
inline std::vector<double> rowwise(const node& n, const std::vector<double>& x,
                                   const std::vector<double>& g) {
  auto const count = static_cast<double>(x.size());
  double greatest = -std::numeric_limits<double>::infinity();
  double total = 0, total_squares = 0, sum_g = 0, sum_gx = 0, sum_exp = 0;
  for (double const e : x) greatest = maximum(greatest, e);
  for (std::size_t i = 0; i < x.size(); ++i) {
    total += x[i];
    total_squares += x[i] * x[i];
    sum_g += g[i];
    sum_gx += g[i] * x[i];
    sum_exp += std::exp(x[i] - greatest);
  }
  double squares = 0;
  for (double const e : x) squares += (e - total / count) * (e - total / count);
  double const deviation = std::sqrt(squares / count + n.scalar);
  double const size = std::sqrt(total_squares / count + n.scalar);

  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const normal = (x[i] - total / count) / deviation;
    switch (n.kind) {
      case op::softmax:
        y[i] = std::isinf(greatest) && greatest < 0 ? 0 : std::exp(x[i] - greatest) / sum_exp;
        break;
      case op::log_softmax:
        y[i] =
            std::isinf(greatest) && greatest < 0 ? greatest : x[i] - greatest - std::log(sum_exp);
        break;
      case op::normalize:
        y[i] = normal;
        break;
      case op::rms_normalize:
        y[i] = x[i] / size;
        break;
      case op::softmax_adjoint:
        y[i] = x[i] * (g[i] - sum_gx);
        break;
      case op::log_softmax_adjoint:
        y[i] = g[i] - std::exp(x[i]) * sum_g;
        break;
      case op::normalize_adjoint: {
        double const sum_g_normal = (sum_gx - sum_g * total / count) / deviation;
        y[i] = (g[i] - sum_g / count - normal * sum_g_normal / count) / deviation;
        break;
      }
      case op::rms_normalize_adjoint:
        y[i] = (g[i] - x[i] / size * sum_gx / size / count) / size;
        break;
      default:
        throw std::logic_error("not rowwise: " + std::string(name_of(n.kind)));
    }
  }
  return y;
}

// The same with optional operands: rows[j] is the row of operand j, empty if it is absent.
inline std::vector<double> rowwise_with_others(const node& n,
                                               std::array<std::vector<double>, 4> rows) {
  auto& [x, second, third, fourth] = rows;
  auto const times = [](std::vector<double>& to, const std::vector<double>& by) {
    for (std::size_t i = 0; i < by.size(); ++i) to[i] *= by[i];
  };
  auto const plus = [](std::vector<double>& to, const std::vector<double>& more) {
    for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
  };
  std::vector<double> const none(x.size());
  if (n.kind == op::softmax) {  // x, mask
    for (double& e : x) e *= n.scale;
    for (std::size_t i = 0; i < second.size(); ++i)
      if (second[i] == 0) x[i] = -std::numeric_limits<double>::infinity();
    return rowwise(n, x, none);
  }
  if (is_normalization(n.kind)) {  // x, gain, bias, addend
    plus(x, fourth);
    std::vector<double> y = rowwise(n, x, none);
    times(y, second);
    plus(y, third);
    return y;
  }
  if (n.kind == op::log_softmax_adjoint && n.operands == 3) {  // y, g, index of g's element
    for (std::size_t i = 0; i < third.size(); ++i)
      if (third[i] != static_cast<double>(i)) second[i] = 0;
    return rowwise(n, x, second);
  }
  if (n.operands == 1) return rowwise(n, x, none);
  times(second, third);  // the adjoint of a normalisation: x, g, gain, addend
  std::vector<double> y = rowwise(n, x, second);
  plus(y, fourth);
  return y;
}

}  // namespace detail

}  // namespace weft::reference
