#include "support/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/operations.hpp"
#include "reference/rowwise.hpp"
#include "support/greater_error.hpp"
#include "support/operands.hpp"
#include "weft/kernels/dot_blocking.hpp"

namespace weft::testing {

namespace {

namespace ref = reference::detail;

class error_analysis {
 public:
  error_analysis(const graph& g, const reference::lengths& of)
      : g_(g), of_(of), error_(static_cast<std::size_t>(g.count)) {
    for (int i = 0; i < g.count; ++i)
      if (g.nodes[i].kind == op::yield) next_of_[operand_of(g.nodes[i], 0)] = i;
  }

  // Computes the error bound of node i, whose values are now known.
  void see(int i, const std::vector<reference::values>& all) {
    all_ = &all;
    const node& n = g_.nodes[i];
    const bool exact = n.type != dtype::float32 && n.type != dtype::bfloat16;
    if (exact) check_exact(n);
    const double e = exact ? 0 : bound(n, i);
    double& error = error_[static_cast<std::size_t>(i)];
    error = n.kind == op::scan_collect ? std::max(error, e) : e;
    if (n.kind == op::carry) begun_.insert(i);
  }
  const std::vector<double>& errors() const { return error_; }

 private:
  struct range {
    double low = 0, high = 0;
    double most() const { return std::max(std::abs(low), std::abs(high)); }
  };

  const std::vector<double>& data(int id) const {
    return (*all_)[static_cast<std::size_t>(id)].data;
  }
  // The range of the finite values: infinities and NaN have no rounding errors.
  range range_of(int id) const {
    range r{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const double x : data(id))
      if (std::isfinite(x)) r = {std::min(r.low, x), std::max(r.high, x)};
    return r.low <= r.high ? r : range{};
  }
  double most(int id) const { return range_of(id).most(); }
  double error(const node& n, int operand) const {
    return operand < operand_count(n) ? error_[static_cast<std::size_t>(operand_of(n, operand))]
                                      : 0;
  }
  double largest_error(const node& n) const {
    double e = 0;
    for (int j = 0; j < operand_count(n); ++j) e = std::max(e, error(n, j));
    return e;
  }
  ref::layout layout(int id) const { return {g_.nodes[id].axes, of_}; }
  // Integers and booleans have no error, unless rounding could flip a comparison: then the test is
  // wrong. Values that are equal in the reference come from equal bits.
  void check_exact(const node& n) const {
    const double e = error(n, 0) + error(n, 1);
    if (e == 0) return;
    if (!is_comparison(n.kind)) throw std::logic_error("integers made from rounded numbers");
    const int x = operand_of(n, 0), y = operand_of(n, 1);
    ref::for_each(ref::to_axes(n.axes), of_, {layout(x), layout(y)}, [&](auto a, auto b) {
      const double apart = std::abs(data(x)[a] - data(y)[b]);
      if (apart != 0 && apart <= e) throw std::logic_error("a comparison too close to call");
    });
  }

  // The maximum over the elements of node `id` of the sum of |f| over the contracted axes.
  template <class F>
  double largest_sum(int id, int x, int y, F f) const {
    std::vector<double> sums(data(id).size());
    ref::for_each(ref::united(g_.nodes[id].axes, g_.nodes[x].axes, g_.nodes[y].axes), of_,
                  {layout(id), layout(x), layout(y)}, [&](auto i, auto a, auto b) {
                    const double term = f(data(x)[a], data(y)[b]);
                    if (std::isfinite(term)) sums[i] += std::abs(term);
                  });
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }
  // The number of terms in each sum.
  double terms(const node& n) const {
    double count = 1;
    for (const auto* axis :
         ref::without(ref::united(g_.nodes[operand_of(n, 0)].axes,
                                  g_.nodes[operand_of(n, operand_count(n) - 1)].axes),
                      ref::to_axes(n.axes)))
      count *= static_cast<double>(of_(axis));
    return count;
  }

  template <op K>
  double bound_of(const node& n, int id) const {
    if (data(id).empty()) return 0;
    const int x = operand_of(n, 0);
    const int y = operand_count(n) > 1 ? operand_of(n, 1) : x;
    const double ex = error(n, 0), ey = error(n, 1);
    const double r = most(id);
    const range at = operand_count(n) > 0 ? range_of(x) : range{};
    const double mx = at.most(), my = operand_count(n) > 1 ? most(y) : 0;
    if constexpr (is_rowwise(K)) {
      return rowwise(n, r, ex, ey);
    } else if constexpr (K == op::input || K == op::parameter || K == op::state ||
                         K == op::positions) {
      // given as float32
      return 0;
    } else if constexpr (K == op::update_rows) {
      // an element of either
      return std::max(ex, ey);
    } else if constexpr (K == op::constant) {
      // rounded to float32
      const double value = constant_value(n);
      if (n.type != dtype::float32 || !std::isfinite(value)) return 0;
      return static_cast<double>(static_cast<float>(value)) == value ? 0 : ref::rounding(r);
    } else if constexpr (K == op::length) {
      // a product of integers, exact below 2^24
      return r < 0x1p24 ? 0 : ref::gamma(multiplied_axes(n).count) * r;
    } else if constexpr (K == op::cast) {
      // from integers, exact below 2^24
      if (n.type == dtype::bfloat16)  // an error may change which neighbour is the nearest
        return ex > 0 ? ex + 0x1p-8 * r : 0;
      return g_.nodes[x].type == dtype::float32 || g_.nodes[x].type == dtype::bfloat16 || r < 0x1p24
                 ? ex
                 : ref::rounding(r);
    } else if constexpr (K == op::carry || K == op::scan_result) {
      // the initial value at the first step, then that of the step before
      const int carry = n.kind == op::carry ? id : x;
      const int from = begun_.contains(carry) ? next_of_.at(carry) : operand_of(g_.nodes[carry], 0);
      return error_[static_cast<std::size_t>(from)];
    } else if constexpr (K == op::yield) {
      return ey;
    } else if constexpr (K == op::scan_collect || K == op::scan_slice || K == op::rename ||
                         K == op::within || K == op::stop_gradient || K == op::slice ||
                         K == op::unfold || K == op::split || K == op::merge || K == op::copy ||
                         K == op::negate || K == op::concatenate || K == op::pad ||
                         K == op::maximum || K == op::minimum || K == op::where || K == op::max) {
      // the same elements; |max(a, b) - max(a', b')| is at most the larger distance
      return largest_error(n);
    } else if constexpr (K == op::gather || K == op::relu) {
      // slope at most 1
      return ex;
    } else if constexpr (K == op::dropout) {
      // times a factor that is rounded, or 0
      const double rate = dropout_rate(g_.nodes[y]);
      return rate == 1 ? 0 : ex / (1 - rate) + ref::gamma(2) * r + underflow;
    } else if constexpr (K == op::relu_adjoint) {
      // g or 0
      return ey;
    } else if constexpr (K == op::sqrt) {
      // slope 1/(2 sqrt(x)); close to 0, sqrt(x + e) - sqrt(x) <= sqrt(e)
      return std::min(at.low > ex ? ex / (2 * std::sqrt(at.low - ex)) : std::sqrt(ex),
                      std::sqrt(ex)) +
             ref::rounding(r);
    } else if constexpr (K == op::gelu || K == op::gelu_tanh) {
      // slope at most 1.13; x times a value in [0, 1] with a function's error
      return 1.13 * ex + 2 * function * mx;
    } else if constexpr (K == op::gelu_adjoint) {
      // g times a slope at most 1.13, which itself has a slope at most 0.8
      return 1.13 * ey + (0.8 * ex + 3 * function) * (my + ey);
    } else if constexpr (K == op::gelu_tanh_adjoint) {
      // and 1 - tanh^2, with an absolute error, times x times u'
      const double inner = mx * (0.8 + 0.11 * mx * mx);
      return 1.13 * ey + (0.86 * ex + (3 + 2 * inner) * function) * (my + ey);
    } else if constexpr (K == op::divide) {
      // (x + ex)/(y + ey) - x/y = (ex - ey x/y) / (y + ey)
      double least = std::numeric_limits<double>::infinity();
      for (const double v : data(y)) least = std::min(least, std::abs(v));
      if (ex == 0 && ey == 0) return ref::rounding(r);
      return least > ey ? (ex + r * ey) / (least - ey) + ref::rounding(r)
                        : std::numeric_limits<double>::infinity();
    } else if constexpr (K == op::sum) {
      const double k = terms(n);
      return k * ex + ref::summation(k) * largest_sum(id, x, x, [](double a, double) { return a; });
    } else if constexpr (K == op::norm_parameter_gradient) {
      // of g, or of g * normalize(x)
      const node& adjoint = g_.nodes[x];
      const ref::row_range rows_of_x = rows_of(adjoint, operand_of(adjoint, 0));
      const double k = static_cast<double>(data(operand_of(adjoint, 1)).size()) / rows_of_x.length;
      const double eg = error(adjoint, 1);
      const ref::normal_errors e = norm_parameter(n) == 0
                                       ? ref::errors_of_normal(rows_of_x, error(adjoint, 0))
                                       : ref::normal_errors{0, 0, 1};
      const double most_g = most(operand_of(adjoint, 1));
      return k * (eg * (e.most_h + e.h) + most_g * e.h + ref::gamma(4) * most_g * e.most_h) +
             ref::summation(k) * k * most_g * e.most_h;
    } else if constexpr (K == op::dot) {
      // as a sum of |a||b|, with the roundings of products and the stored result
      const double k = terms(n);
      const auto chain = static_cast<double>(kernels::longest_chain(static_cast<std::size_t>(k)));
      const auto sum_of = [&](auto f) { return largest_sum(id, x, y, f); };
      return ex * sum_of([](double, double b) { return b; }) +
             ey * sum_of([](double a, double) { return a; }) + k * ex * ey +
             ref::gamma(chain + 2) * sum_of([](double a, double b) { return a * b; }) +
             k * underflow;
    } else if constexpr (K == op::fold) {
      // at most as many terms as a window has positions
      const auto k = static_cast<double>(of_(axis_in_window(n)));
      return k * ex + ref::gamma(k) * k * mx;
    } else if constexpr (K == op::scatter_add) {
      return scatter(n, ex);
    } else if constexpr (K == op::rotate) {
      // two products each, or unchanged
      const int sine = operand_of(n, 2);
      const double es = error(n, 2), angle = my + most(sine);
      return std::max(ex, ex * (angle + ey + es) + mx * (ey + es) + ref::gamma(3) * mx * angle);
    } else if constexpr (K == op::rotate_adjoint) {
      return 2 * (mx * ey + my * ex + ex * ey) + ref::gamma(3) * 2 * mx * my;
    } else if constexpr (is_elementwise(K)) {
      return at_corners(n, id) + (has_flag(K, op_flag::expensive) ? function : unit) * r +
             underflow;
    } else if constexpr (K == op::attention || K == op::attention_adjoint || K == op::get_result) {
      throw std::logic_error("error bounds are those of a graph before its attention is fused");
    } else {
      static_assert(
          requires { ref::computed<K>::is_exact; },
          "tests: an operation has no error bound in error_bound.cpp");
      return 0;
    }
  }

  struct bound_of_operation {
    template <op K>
    constexpr auto operator()() const {
      return &error_analysis::bound_of<K>;
    }
  };
  double bound(const node& n, int id) const {
    static constexpr auto bounds = table_of_operations(bound_of_operation());
    return (this->*bounds[n.kind])(n, id);
  }

  // How far an elementwise operation's result moves if each operand moves by its error, in either
  // direction: of operands this close together the greatest distance is at such a corner.
  double at_corners(const node& n, int id) const {
    double most = 0;
    if (largest_error(n) == 0) return most;
    const auto of = [&](int j) {
      return j < operand_count(n) ? layout(operand_of(n, j)) : ref::layout();
    };
    ref::for_each(ref::to_axes(n.axes), of_, {layout(id), of(0), of(1), of(2)},
                  [&](auto i, auto a, auto b, auto c) {
                    const std::size_t at[]{a, b, c};
                    const double exact = data(id)[i];
                    if (!std::isfinite(exact)) return;
                    for (unsigned corner = 0; corner < 1u << operand_count(n); ++corner) {
                      double x[3]{};
                      for (int j = 0; j < operand_count(n); ++j)
                        x[j] = data(operand_of(n, j))[at[j]] +
                               ((corner >> j & 1) != 0 ? error(n, j) : -error(n, j));
                      const double moved = ref::elementwise(n, x[0], x[1], x[2]);
                      most = greater_error(most, std::abs(moved - exact));
                    }
                  });
    return most;
  }

  // As a sum with as many terms as there are equal indices.
  double scatter(const node& n, double ex) const {
    const auto* const indexed = indexed_axis(n);
    ref::layout table(n.axes, of_);
    const std::size_t stride = table.take(indexed);
    const auto size = static_cast<double>(of_(indexed));
    std::vector<double> sums(ref::product(of_, n.axes)), counts(sums.size());
    const auto& g = data(operand_of(n, 0));
    const auto& indices = data(operand_of(n, 1));
    ref::for_each(ref::without(ref::united(g_.nodes[operand_of(n, 0)].axes,
                                           g_.nodes[operand_of(n, 1)].axes, n.axes),
                               {indexed}),
                  of_, {table, layout(operand_of(n, 0)), layout(operand_of(n, 1))},
                  [&](auto i, auto a, auto b) {
                    if (indices[b] < 0 || indices[b] >= size) return;
                    const auto at = i + static_cast<std::size_t>(indices[b]) * stride;
                    sums[at] += std::abs(g[a]);
                    counts[at] += 1;
                  });
    double e = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      e = std::max(e, counts[i] * ex + ref::gamma(counts[i]) * sums[i]);
    return e;
  }

  ref::row_range rows_of(const node& n, int id) const {
    ref::row_range all;
    all.centred = subtracts_mean(n.kind);
    const auto along = ref::to_axes(row_axes(n));
    for (const auto* axis : along) all.length *= static_cast<double>(of_(axis));
    ref::for_each(ref::without(ref::to_axes(n.axes), along), of_, {layout(id)}, [&](auto first) {
      std::vector<double> row;
      ref::for_each(along, of_, {layout(id)}, [&](auto i) { row.push_back(data(id)[first + i]); });
      all.add(row, epsilon_of(n));
    });
    return all;
  }
  double rowwise(const node& n, double r, double ex, double eg) const {
    const ref::row_errors e{rows_of(n, operand_of(n, 0)),
                            operand_count(n) > 1 ? rows_of(n, operand_of(n, 1)) : ref::row_range(),
                            ex, eg, r};
    return e.x.length == 0 ? 0 : ref::rowwise_operations[n.kind].error(e);
  }

  const graph& g_;
  const reference::lengths& of_;
  const std::vector<reference::values>* all_ = nullptr;
  std::vector<double> error_;
  std::map<int, int> next_of_;  // of a carry
  std::set<int> begun_;         // the carries of scans that have made a step
};

}  // namespace

bounded_values evaluate_with_bounds(const graph& g, const reference::lengths& given,
                                    const reference::bindings& b) {
  const reference::lengths of = reference::complete(g, given);
  error_analysis analysis(g, of);
  auto all =
      reference::evaluate(g, given, b, [&](int i, const auto& now) { analysis.see(i, now); });
  return {std::move(all), analysis.errors()};
}

}  // namespace weft::testing
