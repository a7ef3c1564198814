// Reference evaluation of rowwise operations, one row at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "reference/elementwise.hpp"

namespace weft::reference {

namespace detail {

// What a rowwise operation needs to know of a whole row of x, and of g, which adjoints have.
struct row {
  row(const std::vector<double>& x, const std::vector<double>& g, double epsilon)
      : count(static_cast<double>(x.size())) {
    for (double const e : x) greatest = maximum(greatest, e);
    double squares = 0, squared_distances = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean += x[i] / count;
      squares += x[i] * x[i];
      sum_g += g[i];
      sum_gx += g[i] * x[i];
      sum_exp += std::exp(x[i] - greatest);
    }
    for (double const e : x) squared_distances += (e - mean) * (e - mean);
    deviation = std::sqrt(squared_distances / count + epsilon);
    root_mean_square = std::sqrt(squares / count + epsilon);
  }
  bool is_empty() const { return std::isinf(greatest) && greatest < 0; }

  double count;
  double greatest = -std::numeric_limits<double>::infinity();
  double mean = 0, sum_g = 0, sum_gx = 0, sum_exp = 0, deviation = 0, root_mean_square = 0;
};

// One element of a rowwise operation.
template <op>
struct row_element;
template <>
struct row_element<op::softmax> {
  static double of(const row& r, double x, double) {
    return r.is_empty() ? 0 : std::exp(x - r.greatest) / r.sum_exp;
  }
};
template <>
struct row_element<op::log_softmax> {
  static double of(const row& r, double x, double) {
    return r.is_empty() ? r.greatest : x - r.greatest - std::log(r.sum_exp);
  }
};
template <>
struct row_element<op::normalize> {
  static double of(const row& r, double x, double) { return (x - r.mean) / r.deviation; }
};
template <>
struct row_element<op::rms_normalize> {
  static double of(const row& r, double x, double) { return x / r.root_mean_square; }
};
template <>
struct row_element<op::softmax_adjoint> {  // x is the result
  static double of(const row& r, double x, double g) { return x * (g - r.sum_gx); }
};
template <>
struct row_element<op::log_softmax_adjoint> {
  static double of(const row& r, double x, double g) { return g - std::exp(x) * r.sum_g; }
};
template <>
struct row_element<op::normalize_adjoint> {
  static double of(const row& r, double x, double g) {
    double const sum_g_normal = (r.sum_gx - r.sum_g * r.mean) / r.deviation;
    double const normal = (x - r.mean) / r.deviation;
    return (g - r.sum_g / r.count - normal * sum_g_normal / r.count) / r.deviation;
  }
};
template <>
struct row_element<op::rms_normalize_adjoint> {
  static double of(const row& r, double x, double g) {
    double const size = r.root_mean_square;
    return (g - x / size * r.sum_gx / size / r.count) / size;
  }
};

struct row_element_of_operation {
  template <op K>
  constexpr auto operator()() const -> double (*)(const row&, double, double) {
    if constexpr (is_rowwise(K)) {
      static_assert(
          requires { &row_element<K>::of; },
          "reference: a rowwise operation has no row_element in rowwise.hpp");
      return &row_element<K>::of;
    } else {
      return nullptr;
    }
  }
};

// One row; g is read by the adjoints only.
inline std::vector<double> rowwise(const node& n, const std::vector<double>& x,
                                   const std::vector<double>& g) {
  static constexpr auto elements = table_of_operations(row_element_of_operation());
  row const r(x, g, n.scalar);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = elements[n.kind](r, x[i], g[i]);
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
