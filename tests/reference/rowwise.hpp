// Reference evaluation of rowwise operations, one row at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/rounding.hpp"
#include "support/operands.hpp"

namespace weft::reference {

namespace detail {

// What a rowwise operation needs to know of a whole row of x, and of g, which adjoints have.
struct row {
  row(const std::vector<double>& x_row, const std::vector<double>& g_row, double epsilon)
      : x(x_row), g(g_row), count(static_cast<double>(x.size())) {
    for (const double e : x) greatest = functions::maximum(greatest, e);
    double squares = 0, squared_distances = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean += x[i] / count;
      squares += x[i] * x[i];
      sum_g += g[i];
      sum_gx += g[i] * x[i];
      sum_exp += std::exp(x[i] - greatest);
    }
    for (const double e : x) squared_distances += (e - mean) * (e - mean);
    deviation = std::sqrt(squared_distances / count + epsilon);
    root_mean_square = std::sqrt(squares / count + epsilon);
  }
  bool is_empty() const { return std::isinf(greatest) && greatest < 0; }

  const std::vector<double>&x, &g;
  double count;
  double greatest = -std::numeric_limits<double>::infinity();
  double mean = 0, sum_g = 0, sum_gx = 0, sum_exp = 0, deviation = 0, root_mean_square = 0;
};

// Of a rowwise operation: element i of a row's result, and a bound of its error in float32, in
// which `e.most` is the largest |result|.
template <op>
struct row_element;
template <>
struct row_element<op::softmax> {
  static double of(const row& r, std::size_t i) {
    return r.is_empty() ? 0 : std::exp(r.x[i] - r.greatest) / r.sum_exp;
  }
  static double error(const row_errors& e) {
    // Each weight has the relative errors of exp(x - max), the sum and two products; errors of
    // x move it by a factor of at most exp(2 e).
    return e.most * (std::expm1(2 * e.ex) + unit * e.x.spread + 2 * function +
                     summation(e.x.length) + gamma(3));
  }
};
template <>
struct row_element<op::log_softmax> {
  static double of(const row& r, std::size_t i) {
    return r.is_empty() ? r.greatest : r.x[i] - r.greatest - std::log(r.sum_exp);
  }
  static double error(const row_errors& e) {
    // The logarithm of the sum, rounded to a float, has that's relative error as its absolute one;
    // then two differences of at most spread + log(n).
    return 2 * e.ex + unit * (e.x.spread + 1) + function + summation(e.x.length) +
           gamma(3) * (e.x.spread + std::log(e.x.length));
  }
};
template <>
struct row_element<op::normalize> {
  static double of(const row& r, std::size_t i) { return (r.x[i] - r.mean) / r.deviation; }
  static double error(const row_errors& e) { return errors_of_normal(e.x, e.ex).h; }
};
template <>
struct row_element<op::rms_normalize> {
  static double of(const row& r, std::size_t i) { return r.x[i] / r.root_mean_square; }
  static double error(const row_errors& e) { return errors_of_normal(e.x, e.ex).h; }
};
template <>
struct row_element<op::cumulative_sum> {
  static double of(const row& r, std::size_t i) {
    return std::accumulate(r.x.begin(), r.x.begin() + static_cast<std::ptrdiff_t>(i) + 1, 0.0);
  }
  static double error(const row_errors& e) {
    return e.x.length * e.ex + summation(e.x.length) * e.x.largest_sum;
  }
};
template <>
struct row_element<op::reverse_cumulative_sum> : row_element<op::cumulative_sum> {
  static double of(const row& r, std::size_t i) {
    return std::accumulate(r.x.begin() + static_cast<std::ptrdiff_t>(i), r.x.end(), 0.0);
  }
};
template <>
struct row_element<op::softmax_adjoint> {  // x is the result
  static double of(const row& r, std::size_t i) { return r.x[i] * (r.g[i] - r.sum_gx); }
  static double error(const row_errors& e) {
    // y (g - sum of y g): the weights y are at most 1 and add up to 1.
    const double inner =
        e.eg + e.x.length * e.ex * e.g.most + (summation(e.x.length) + gamma(2)) * e.g.most;
    return e.ex * 2 * e.g.most + (1 + e.ex) * (e.eg + inner) + gamma(3) * 2 * e.g.most;
  }
};
template <>
struct row_element<op::log_softmax_adjoint> {
  static double of(const row& r, std::size_t i) { return r.g[i] - std::exp(r.x[i]) * r.sum_g; }
  static double error(const row_errors& e) {
    // g - exp(y) (sum of g): exp(y) is at most 1.
    const double sum = e.x.length * e.eg + summation(e.x.length) * e.g.largest_sum;
    return e.eg + sum + (std::expm1(e.ex) + function) * e.g.largest_sum +
           gamma(3) * (e.g.most + e.g.largest_sum);
  }
};
template <>
struct row_element<op::normalize_adjoint> {
  static double of(const row& r, std::size_t i) {
    const double sum_g_normal = (r.sum_gx - r.sum_g * r.mean) / r.deviation;
    const double normal = (r.x[i] - r.mean) / r.deviation;
    return (r.g[i] - r.sum_g / r.count - normal * sum_g_normal / r.count) / r.deviation;
  }
  static double error(const row_errors& e) {
    // (g - mean g - h mean(g h)) / deviation, and mean |h| is at most 1. Without the means of x
    // and g it is off by less.
    const normal_errors h = errors_of_normal(e.x, e.ex);
    const double scale = 1 / (e.x.least_deviation - 2 * e.ex);
    const double mean_g = e.eg + (summation(e.x.length) + unit) * e.g.most;
    const double mean_gh =
        e.eg + e.g.most * (h.h + h.scale) + (summation(e.x.length) + gamma(4)) * e.g.most;
    const double most = e.g.most * (2 + h.most_h);
    const double inner =
        e.eg + mean_g + (h.most_h + h.h) * mean_gh + h.h * e.g.most + gamma(4) * most;
    return scale * (inner + (h.scale + unit) * most);
  }
};
template <>
struct row_element<op::rms_normalize_adjoint> {
  static double of(const row& r, std::size_t i) {
    const double size = r.root_mean_square;
    return (r.g[i] - r.x[i] / size * r.sum_gx / size / r.count) / size;
  }
  static double error(const row_errors& e) { return row_element<op::normalize_adjoint>::error(e); }
};

struct row_functions {
  double (*of)(const row&, std::size_t);
  double (*error)(const row_errors&);
};
struct row_functions_of_operation {
  template <op K>
  constexpr row_functions operator()() const {
    if constexpr (is_rowwise(K)) {
      constexpr bool has_element = requires {
        &row_element<K>::of;
        &row_element<K>::error;
      };
      static_assert(has_element,
                    "reference: a rowwise operation has no row_element in rowwise.hpp, or one "
                    "without its bound, error");
      if constexpr (has_element) return {&row_element<K>::of, &row_element<K>::error};
    }
    return {};
  }
};
inline constexpr auto rowwise_operations = table_of_operations(row_functions_of_operation());

// One row; g is read by the adjoints only.
inline std::vector<double> rowwise(const node& n, const std::vector<double>& x,
                                   const std::vector<double>& g) {
  const row r(x, g, epsilon_of(n));
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = rowwise_operations[n.kind].of(r, i);
  return y;
}

// The same with optional operands: rows[j] is the row of operand j, empty if it is absent.
inline std::vector<double> rowwise_with_others(const node& n,
                                               std::array<std::vector<double>, 4> rows) {
  auto& [x, second, third, fourth] = rows;
  const auto times = [](std::vector<double>& to, const std::vector<double>& by) {
    for (std::size_t i = 0; i < by.size(); ++i) to[i] *= by[i];
  };
  const auto plus = [](std::vector<double>& to, const std::vector<double>& more) {
    for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
  };
  const std::vector<double> none(x.size());
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
  if (n.kind == op::log_softmax_adjoint &&
      testing::operand_count(n) == 3) {  // y, g, index of g's element
    for (std::size_t i = 0; i < third.size(); ++i)
      if (third[i] != static_cast<double>(i)) second[i] = 0;
    return rowwise(n, x, second);
  }
  if (testing::operand_count(n) == 1) return rowwise(n, x, none);
  times(second, third);  // the adjoint of a normalization: x, g, gain, addend
  std::vector<double> y = rowwise(n, x, second);
  plus(y, fourth);
  return y;
}

}  // namespace detail

}  // namespace weft::reference
