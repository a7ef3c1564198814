// How far float32 may be from the reference: a running error analysis (Wilkinson 1963; Higham 2002,
// section 3.3) over the nodes of a graph, as the reference computes their values. Each node has one
// bound, on the largest absolute error of its elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/evaluate.hpp"

namespace weft::testing {

inline constexpr double unit = 0x1p-24;        // the relative error of one rounding to nearest
inline constexpr double underflow = 0x1p-140;  // and its absolute error close to 0
inline constexpr double function = 8 * unit;   // the kernels' elementary functions: 4 ulp

namespace detail {

namespace ref = reference::detail;

class error_analysis {
 public:
  error_analysis(const graph& g, const reference::lengths& of)
      : g_(g), of_(of), error_(static_cast<std::size_t>(g.count)) {
    for (int i = 0; i < g.count; ++i)
      if (g.nodes[i].kind == op::yield) next_of_[g.nodes[i].operand[0]] = i;
  }

  // Computes the error bound of node i, whose values are now known.
  void see(int i, const std::vector<reference::values>& all) {
    all_ = &all;
    node const& n = g_.nodes[i];
    bool const exact = n.type != dtype::float32;
    if (exact) check_exact(n);
    double const e = exact ? 0 : bound(n, i);
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
    for (double const x : data(id))
      if (std::isfinite(x)) r = {std::min(r.low, x), std::max(r.high, x)};
    return r.low <= r.high ? r : range{};
  }
  double most(int id) const { return range_of(id).most(); }
  double error(const node& n, int operand) const {
    return operand < n.operands ? error_[static_cast<std::size_t>(n.operand[operand])] : 0;
  }
  double largest_error(const node& n) const {
    double e = 0;
    for (int j = 0; j < n.operands; ++j) e = std::max(e, error(n, j));
    return e;
  }
  ref::layout layout(int id) const { return {g_.nodes[id].axes, of_}; }
  static double rounding(double value) { return unit * value + underflow; }
  // k roundings in a row.
  static double gamma(double k) { return k * unit / (1 - k * unit); }
  // The error of a sum of n terms, relative to the sum of their magnitudes (Higham, equation 4.4).
  // The kernels sum at most 1024 in float32, and such sums in double.
  static double summation(double n) { return gamma(std::min(n, 1024.0) + 1); }

  // Integers and booleans have no error, unless rounding could flip a comparison: then the test is
  // wrong. Values that are equal in the reference come from equal bits.
  void check_exact(const node& n) const {
    double const e = error(n, 0) + error(n, 1);
    if (e == 0) return;
    if (!is_comparison(n.kind)) throw std::logic_error("integers made from rounded numbers");
    int const x = n.operand[0], y = n.operand[1];
    ref::for_each(ref::to_axes(n.axes), of_, {layout(x), layout(y)}, [&](auto a, auto b) {
      double const apart = std::abs(data(x)[a] - data(y)[b]);
      if (apart != 0 && apart <= e) throw std::logic_error("a comparison too close to call");
    });
  }

  // The maximum over the elements of node `id` of the sum of |f| over the contracted axes.
  template <class F>
  double largest_sum(int id, int x, int y, F f) const {
    std::vector<double> sums(data(id).size());
    ref::for_each(ref::united(g_.nodes[id].axes, g_.nodes[x].axes, g_.nodes[y].axes), of_,
                  {layout(id), layout(x), layout(y)}, [&](auto i, auto a, auto b) {
                    double const term = f(data(x)[a], data(y)[b]);
                    if (std::isfinite(term)) sums[i] += std::abs(term);
                  });
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }
  // The number of terms in each sum.
  double terms(const node& n) const {
    double count = 1;
    for (auto const* axis : ref::without(
             ref::united(g_.nodes[n.operand[0]].axes, g_.nodes[n.operand[n.operands - 1]].axes),
             ref::to_axes(n.axes)))
      count *= static_cast<double>(of_(axis));
    return count;
  }

  double bound(const node& n, int id) const {
    if (data(id).empty()) return 0;
    int const x = n.operand[0];
    int const y = n.operands > 1 ? n.operand[1] : x;
    double const ex = error(n, 0), ey = error(n, 1);
    double const r = most(id);
    range const at = n.operands > 0 ? range_of(x) : range{};
    double const mx = at.most(), my = n.operands > 1 ? most(y) : 0;
    if (is_rowwise(n.kind)) return rowwise(n, r, ex, ey);
    switch (n.kind) {
      case op::input:  // given as float32
      case op::parameter:
      case op::state:
      case op::positions:
        return 0;
      case op::update_rows:  // an element of either
        return std::max(ex, ey);
      case op::constant:  // rounded to float32
        if (n.type != dtype::float32 || !std::isfinite(n.scalar)) return 0;
        return static_cast<double>(static_cast<float>(n.scalar)) == n.scalar ? 0 : rounding(r);
      case op::length:  // a product of integers, exact below 2^24
        return r < 0x1p24 ? 0 : gamma(n.named.count) * r;
      case op::cast:  // from integers, exact below 2^24
        return g_.nodes[x].type == dtype::float32 || r < 0x1p24 ? ex : rounding(r);
      case op::carry:  // the initial value at the first step, then that of the step before
      case op::scan_result: {
        int const carry = n.kind == op::carry ? id : x;
        int const from = begun_.contains(carry) ? next_of_.at(carry) : g_.nodes[carry].operand[0];
        return error_[static_cast<std::size_t>(from)];
      }
      case op::yield:
        return ey;
      case op::scan_collect:
      case op::scan_slice:
      case op::rename:  // the same elements
      case op::slice:
      case op::unfold:
      case op::split:
      case op::merge:
      case op::copy:
      case op::negate:
      case op::concatenate:
      case op::pad:
      case op::maximum:  // |max(a, b) - max(a', b')| is at most the larger distance
      case op::minimum:
      case op::where:
      case op::max:
        return largest_error(n);
      case op::gather:
      case op::relu:  // slope at most 1
        return ex;
      case op::dropout:  // times a factor that is rounded, or 0
        return n.scalar == 1 ? 0 : ex / (1 - n.scalar) + gamma(2) * r + underflow;
      case op::relu_adjoint:  // g or 0
        return ey;
      case op::exp:  // slope exp(x)
        return ex * std::exp(at.high + ex) + function * r + underflow;
      case op::log:  // slope 1/x
        return (ex == 0 ? 0 : ex / std::max(at.low - ex, 0.0)) + function * r;
      case op::sqrt:  // slope 1/(2 sqrt(x)); close to 0, sqrt(x + e) - sqrt(x) <= sqrt(e)
        return std::min(at.low > ex ? ex / (2 * std::sqrt(at.low - ex)) : std::sqrt(ex),
                        std::sqrt(ex)) +
               rounding(r);
      case op::tanh:  // slope at most 1
      case op::sin:
      case op::cos:
        return ex + function * r + underflow;
      case op::erf:  // slope at most 2/sqrt(pi)
        return 1.13 * ex + function * r + underflow;
      case op::sigmoid:  // slope at most 1/4
        return ex / 4 + function * r + underflow;
      case op::gelu:  // slope at most 1.13; x times a value in [0, 1] with a function's error
      case op::gelu_tanh:
        return 1.13 * ex + 2 * function * mx;
      case op::gelu_adjoint:  // g times a slope at most 1.13, which itself has a slope at most 0.8
        return 1.13 * ey + (0.8 * ex + 3 * function) * (my + ey);
      case op::gelu_tanh_adjoint: {  // and 1 - tanh^2, with an absolute error, times x times u'
        double const inner = mx * (0.8 + 0.11 * mx * mx);
        return 1.13 * ey + (0.86 * ex + (3 + 2 * inner) * function) * (my + ey);
      }
      case op::add:
      case op::subtract:
        return ex + ey + rounding(r);
      case op::multiply:
        return mx * ey + my * ex + ex * ey + rounding(r);
      case op::divide: {  // (x + ex)/(y + ey) - x/y = (ex - ey x/y) / (y + ey)
        double least = std::numeric_limits<double>::infinity();
        for (double const v : data(y)) least = std::min(least, std::abs(v));
        if (ex == 0 && ey == 0) return rounding(r);
        return least > ey ? (ex + r * ey) / (least - ey) + rounding(r)
                          : std::numeric_limits<double>::infinity();
      }
      case op::sum: {
        double const k = terms(n);
        return k * ex + summation(k) * largest_sum(id, x, x, [](double a, double) { return a; });
      }
      case op::norm_parameter_gradient: {  // of g, or of g * normalize(x)
        node const& adjoint = g_.nodes[x];
        rows const rows_of_x = rows_of(adjoint, adjoint.operand[0]);
        double const k = static_cast<double>(data(adjoint.operand[1]).size()) / rows_of_x.length;
        double const eg = error(adjoint, 1);
        normal_errors const e =
            n.start == 0 ? normal(rows_of_x, error(adjoint, 0)) : normal_errors{0, 0, 1};
        double const most_g = most(adjoint.operand[1]);
        return k * (eg * (e.most_h + e.h) + most_g * e.h + gamma(4) * most_g * e.most_h) +
               summation(k) * k * most_g * e.most_h;
      }
      case op::dot: {  // as a sum of |a||b|, with the roundings of products and the stored result
        double const k = terms(n);
        auto const sum_of = [&](auto f) { return largest_sum(id, x, y, f); };
        return ex * sum_of([](double, double b) { return b; }) +
               ey * sum_of([](double a, double) { return a; }) + k * ex * ey +
               gamma(k + 2) * sum_of([](double a, double b) { return a * b; }) + k * underflow;
      }
      case op::fold: {  // at most as many terms as a window has positions
        auto const k = static_cast<double>(of_(n.named.at[2]));
        return k * ex + gamma(k) * k * mx;
      }
      case op::scatter_add:
        return scatter(n, ex);
      case op::rotate: {  // two products each, or unchanged
        int const sine = n.operand[2];
        double const es = error(n, 2), angle = my + most(sine);
        return std::max(ex, ex * (angle + ey + es) + mx * (ey + es) + gamma(3) * mx * angle);
      }
      case op::rotate_adjoint:
        return 2 * (mx * ey + my * ex + ex * ey) + gamma(3) * 2 * mx * my;
      default:
        throw std::logic_error("no error bound for " + std::string(name_of(n.kind)));
    }
  }

  // As a sum with as many terms as there are equal indices.
  double scatter(const node& n, double ex) const {
    auto const* const indexed = n.named.at[0];
    ref::layout table(n.axes, of_);
    std::size_t const stride = table.take(indexed);
    auto const size = static_cast<double>(of_(indexed));
    std::vector<double> sums(ref::product(of_, n.axes)), counts(sums.size());
    auto const& g = data(n.operand[0]);
    auto const& indices = data(n.operand[1]);
    ref::for_each(
        ref::without(ref::united(g_.nodes[n.operand[0]].axes, g_.nodes[n.operand[1]].axes, n.axes),
                     {indexed}),
        of_, {table, layout(n.operand[0]), layout(n.operand[1])}, [&](auto i, auto a, auto b) {
          if (indices[b] < 0 || indices[b] >= size) return;
          auto const at = i + static_cast<std::size_t>(indices[b]) * stride;
          sums[at] += std::abs(g[a]);
          counts[at] += 1;
        });
    double e = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      e = std::max(e, counts[i] * ex + gamma(counts[i]) * sums[i]);
    return e;
  }

  // Properties of the rows of a rowwise operation's operand.
  struct rows {
    double length = 1;
    bool centred = true;  // whether the mean is subtracted
    double most = 0;      // the largest |x|
    double spread = 0;    // the largest difference within a row, or to 0 if it is not centred
    double least_deviation = std::numeric_limits<double>::infinity();  // from the mean, or from 0
    double largest_sum = 0;                                            // of |x|
  };
  rows rows_of(const node& n, int id) const {
    rows all;
    all.centred = subtracts_mean(n.kind);
    auto const along = ref::to_axes(n.named);
    for (auto const* axis : along) all.length *= static_cast<double>(of_(axis));
    ref::for_each(ref::without(ref::to_axes(n.axes), along), of_, {layout(id)}, [&](auto first) {
      double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, sum_of_sizes = 0;
      auto const each = [&](auto f) {
        ref::for_each(along, of_, {layout(id)}, [&](auto i) {
          if (double const v = data(id)[first + i]; std::isfinite(v)) f(v);
        });
      };
      each([&](double v) {
        low = std::min(low, v);
        high = std::max(high, v);
        sum += v;
        sum_of_sizes += std::abs(v);
      });
      double const middle = all.centred ? sum / all.length : 0;
      double squares = 0;
      each([&](double v) { squares += (v - middle) * (v - middle); });
      if (low <= high) {
        if (!all.centred) {
          low = std::min(low, 0.0);
          high = std::max(high, 0.0);
        }
        all.most = std::max({all.most, -low, high});
        all.spread = std::max(all.spread, high - low);
      }
      all.largest_sum = std::max(all.largest_sum, sum_of_sizes);
      all.least_deviation =
          std::min(all.least_deviation, std::sqrt(squares / all.length + n.scalar));
    });
    return all;
  }

  // Errors of a normalisation: the relative error of 1/deviation, and that of the normalised values
  // h.
  struct normal_errors {
    double scale, h, most_h;
  };
  normal_errors normal(const rows& x, double ex) const {
    double const deviation = x.least_deviation - 2 * ex;
    if (!(deviation > 0)) throw std::logic_error("rows too flat for an error bound");
    double const most_h = x.spread / x.least_deviation;
    // The error of the mean: that of its sum, and its rounding to float32.
    double const mean = x.centred ? (summation(x.length) + unit) * x.most : 0;
    // The mean of squares has relative errors of a sum and a few roundings, and the mean's squared
    // error; the root halves them. Errors of x move the deviation by at most their own size.
    double const scale =
        summation(x.length) + gamma(6) + mean * mean / (deviation * deviation) + ex / deviation;
    // d h = (d x - mean d x - h mean(h d x)) / deviation.
    double const h = (2 * ex + mean + unit * x.spread) / deviation + most_h * (scale + 2 * unit);
    return {scale, h, most_h};
  }

  double rowwise(const node& n, double r, double ex, double eg) const {
    rows const x = rows_of(n, n.operand[0]);
    if (x.length == 0) return 0;
    rows const g = n.operands > 1 ? rows_of(n, n.operand[1]) : rows();
    switch (n.kind) {
      case op::softmax:
        // Each weight has the relative errors of exp(x - max), the sum and two products; errors of
        // x move it by a factor of at most exp(2 e).
        return r * (std::expm1(2 * ex) + unit * x.spread + 2 * function + summation(x.length) +
                    gamma(3));
      case op::log_softmax:
        // The logarithm of the sum has the sum's relative error as its absolute one; then two
        // differences of at most spread + log(n).
        return 2 * ex + unit * x.spread + function + summation(x.length) +
               gamma(3) * (x.spread + std::log(x.length));
      case op::normalize:
      case op::rms_normalize:
        return normal(x, ex).h;
      case op::softmax_adjoint: {
        // y (g - sum of y g): the weights y are at most 1 and add up to 1.
        double const inner =
            eg + x.length * ex * g.most + (summation(x.length) + gamma(2)) * g.most;
        return ex * 2 * g.most + (1 + ex) * (eg + inner) + gamma(3) * 2 * g.most;
      }
      case op::log_softmax_adjoint: {
        // g - exp(y) (sum of g): exp(y) is at most 1.
        double const sum = x.length * eg + summation(x.length) * g.largest_sum;
        return eg + sum + (std::expm1(ex) + function) * g.largest_sum +
               gamma(3) * (g.most + g.largest_sum);
      }
      case op::normalize_adjoint:
      case op::rms_normalize_adjoint: {
        // (g - mean g - h mean(g h)) / deviation, and mean |h| is at most 1. Without the means of x
        // and g it is off by less.
        normal_errors const e = normal(x, ex);
        double const scale = 1 / (x.least_deviation - 2 * ex);
        double const mean_g = eg + (summation(x.length) + unit) * g.most;
        double const mean_gh =
            eg + g.most * (e.h + e.scale) + (summation(x.length) + gamma(4)) * g.most;
        double const most = g.most * (2 + e.most_h);
        double const inner =
            eg + mean_g + (e.most_h + e.h) * mean_gh + e.h * g.most + gamma(4) * most;
        return scale * (inner + (e.scale + unit) * most);
      }
      default:
        throw std::logic_error("no error bound for " + std::string(name_of(n.kind)));
    }
  }

  const graph& g_;
  const reference::lengths& of_;
  const std::vector<reference::values>* all_ = nullptr;
  std::vector<double> error_;
  std::map<int, int> next_of_;  // of a carry
  std::set<int> begun_;         // the carries of scans that have made a step
};

}  // namespace detail

// The reference's values of each node of g, and the largest absolute error that float32 may make.
struct bounded_values {
  std::vector<reference::values> all;
  std::vector<double> bounds;
};
inline bounded_values evaluate_with_bounds(const graph& g, const reference::lengths& given,
                                           const reference::bindings& b) {
  reference::lengths const of = reference::complete(g, given);
  detail::error_analysis analysis(g, of);
  auto all =
      reference::evaluate(g, given, b, [&](int i, const auto& now) { analysis.see(i, now); });
  return {std::move(all), analysis.errors()};
}

}  // namespace weft::testing
