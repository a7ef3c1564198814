// What a graph means, said as plainly as possible: an interpreter in double precision, at run time,
// one element after another. The kernels and passes are tested against it; nothing else uses it.
// Integers and booleans are held as doubles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/graph/attention.hpp"
#include "weft/graph/graph.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/graph/scan.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::reference {

// A tensor: dense, the node's axes outermost first, at the lengths of the run.
struct values {
  std::vector<double> data;
};

// What a run is given. Inputs are dense at the run's lengths; parameters are dense at the bounds of
// their axes, as they are stored.
struct bindings {
  using map = std::map<std::string, std::vector<double>, std::less<>>;
  map inputs, parameters;
  kernels::random_state random{};  // what dropouts draw from
  map states{};                    // as parameters; zeros where there is none
};

// The length of each axis in a run. An alias has its axis's length; where a length is not set, it
// is the extent.
class lengths {
 public:
  std::size_t operator()(const axis_info* axis) const {
    auto const found = known_.find(axis->length_axis());
    return found == known_.end() ? axis->extent : found->second;
  }
  lengths& set(const axis_info* axis, std::size_t length) {
    if (length > axis->extent || (!axis->bounded && length < axis->extent))
      throw std::invalid_argument(std::string(axis->name) + " cannot have this length");
    if (!known_.emplace(axis->length_axis(), length).second && (*this)(axis) != length)
      throw std::invalid_argument(std::string(axis->name) + " would have two lengths");
    return *this;
  }
  template <an_axis A>
  lengths& set(std::size_t length) {
    return set(&info_of<A>, length);
  }
  bool is_set(const axis_info* axis) const { return known_.contains(axis->length_axis()); }

 private:
  std::map<const axis_info*, std::size_t> known_;  // by length axis
};

namespace detail {

using axes = std::vector<const axis_info*>;

inline axes to_axes(const axis_list& list) {
  return {list.at, list.at + list.count};
}
inline bool has(const axes& all, const axis_info* axis) {
  return std::find(all.begin(), all.end(), axis) != all.end();
}
// Those of the first list, then those that only later lists have.
template <class... Lists>
axes united(const Lists&... lists) {
  axes all;
  auto const join = [&](const axes& more) {
    for (auto const* axis : more)
      if (!has(all, axis)) all.push_back(axis);
  };
  (join(to_axes(lists)), ...);
  return all;
}
inline axes without(axes all, const axes& some) {
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](const auto* axis) { return has(some, axis); }),
      all.end());
  return all;
}

// The axis of `list` that `other` has not; where there is none, `same`, which both have.
inline const axis_info* own_axis(const axis_list& list, const axis_list& other,
                                 const axis_info* same) {
  for (int i = 0; i < list.count; ++i)
    if (!other.contains(list.at[i])) return list.at[i];
  return same;
}
// slice, place: the axis of the part; the axis of the whole is the first one named.
inline const axis_info* part_axis(const graph& g, const node& n) {
  axis_list const& operand = g.nodes[n.operand[0]].axes;
  return n.kind == op::slice ? own_axis(n.axes, operand, n.named.at[0])
                             : own_axis(operand, n.axes, n.named.at[0]);
}
// split: the operand's axis stands where the result has the outermost new one.
inline const axis_info* split_axis(const graph& g, const node& n) {
  return g.nodes[n.operand[0]].axes.at[n.axes.find(n.named.at[0])];
}
// merge: the result's new axis may have the name of one of those merged.
inline const axis_info* merged_axis(const graph& g, const node& n) {
  for (int i = 0; i < n.named.count; ++i)
    if (n.axes.contains(n.named.at[i])) return n.named.at[i];
  return own_axis(n.axes, g.nodes[n.operand[0]].axes, nullptr);
}
// concatenate: the whole stands where operand 0 has its part.
inline const axis_info* whole_axis(const graph& g, const node& n) {
  return n.axes.at[g.nodes[n.operand[0]].axes.find(n.named.at[0])];
}

inline std::size_t product(const lengths& of, const axis_list& list) {
  std::size_t n = 1;
  for (int i = 0; i < list.count; ++i) n *= of(list.at[i]);
  return n;
}
// slice, place: where the part begins in the whole.
inline std::size_t start(const lengths& of, const node& n) {
  auto at = static_cast<std::size_t>(n.start);
  for (int i = 1; i < n.named.count; ++i) at += of(n.named.at[i]);
  return at;
}

// Where a dense tensor's elements lie: the distance between neighbours along each axis.
class layout {
 public:
  layout() = default;
  template <class Length>  // std::size_t(const axis_info*)
  layout(const axis_list& list, const Length& length) {
    for (int i = list.count; i-- > 0; size_ *= length(list.at[i])) put(list.at[i], size_);
  }
  std::size_t size() const { return size_; }
  // 0 for an axis that the tensor has not: the same element at every index.
  std::size_t stride(const axis_info* axis) const {
    for (auto const& s : strides_)
      if (s.axis == axis) return s.stride;
    return 0;
  }
  // Takes the axis out, and gives its stride.
  std::size_t take(const axis_info* axis) {
    std::size_t const distance = stride(axis);
    strides_.erase(std::remove_if(strides_.begin(), strides_.end(),
                                  [&](const auto& s) { return s.axis == axis; }),
                   strides_.end());
    return distance;
  }
  void put(const axis_info* axis, std::size_t stride) { strides_.push_back({axis, stride}); }
  void rename(const axis_info* from, const axis_info* to) { put(to, take(from)); }

 private:
  struct entry {
    const axis_info* axis;
    std::size_t stride;
  };
  std::vector<entry> strides_;
  std::size_t size_ = 1;
};

template <std::size_t Tensors>
struct loop {
  std::size_t length;
  std::array<std::size_t, Tensors> stride;
};
template <std::size_t Tensors, class F>
void walk(const loop<Tensors>* at, const loop<Tensors>* end,
          std::array<std::size_t, Tensors> offset, F& f) {
  if (at == end) {
    std::apply(f, offset);
    return;
  }
  for (std::size_t i = 0; i < at->length; ++i) {
    walk(at + 1, end, offset, f);
    for (std::size_t t = 0; t < Tensors; ++t) offset[t] += at->stride[t];
  }
}
// f(offset in each tensor...) for every index of the axes, the last one fastest.
template <std::size_t Tensors, class F>
void for_each(const axes& over, const lengths& of, const layout (&tensors)[Tensors], F f) {
  std::vector<loop<Tensors>> loops;
  for (auto const* axis : over) {
    loops.push_back({of(axis), {}});
    for (std::size_t t = 0; t < Tensors; ++t) loops.back().stride[t] = tensors[t].stride(axis);
  }
  walk<Tensors>(loops.data(), loops.data() + loops.size(), {}, f);
}

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
// What gelu_tanh takes the tanh of, and its derivative.
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

inline double cast(element to, double x) {
  if (to == element::boolean) return x != 0;
  return to == element::int32 ? std::trunc(x) : x;
}

// One element of an elementwise operation; operands that it has not are 0.
inline double elementwise(const node& n, double x, double y, double z) {
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

// One row of a rowwise operation; g is looked at by the adjoints only.
inline std::vector<double> rowwise(const node& n, const std::vector<double>& x,
                                   const std::vector<double>& g) {
  auto const count = static_cast<double>(x.size());
  double greatest = -std::numeric_limits<double>::infinity();
  double total = 0, sum_g = 0, sum_gx = 0, sum_exp = 0;
  for (double const e : x) greatest = maximum(greatest, e);
  for (std::size_t i = 0; i < x.size(); ++i) {
    total += x[i];
    sum_g += g[i];
    sum_gx += g[i] * x[i];
    sum_exp += std::exp(x[i] - greatest);
  }
  double squares = 0;
  for (double const e : x) squares += (e - total / count) * (e - total / count);
  double const deviation = std::sqrt(squares / count + n.scalar);

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
      default:
        throw std::logic_error("not rowwise: " + std::string(name_of(n.kind)));
    }
  }
  return y;
}

// The same with the operands that an operation may have besides: rows[j] is the row of operand j,
// empty where there is none.
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
  if (n.kind == op::normalize) {  // x, gain, bias, addend
    plus(x, fourth);
    std::vector<double> y = rowwise(n, x, none);
    times(y, second);
    plus(y, third);
    return y;
  }
  if (n.kind == op::log_softmax_adjoint && n.operands == 3) {  // y, g, the index that has it
    for (std::size_t i = 0; i < third.size(); ++i)
      if (third[i] != static_cast<double>(i)) second[i] = 0;
    return rowwise(n, x, second);
  }
  if (n.operands == 1) return rowwise(n, x, none);
  times(second, third);  // normalize_adjoint: x, g, gain, addend
  std::vector<double> y = rowwise(n, x, second);
  plus(y, fourth);
  return y;
}

}  // namespace detail

// `given`, and what follows from it: the lengths of the axes that split, merge, slice, place,
// windows and concatenate make.
inline lengths complete(const graph& g, lengths given) {
  lengths& of = given;
  for (int i = 0; i < g.count; ++i) {
    node const& n = g.nodes[i];
    if (n.kind == op::split) {
      std::size_t inner = 1;
      for (int j = 1; j < n.named.count; ++j) inner *= of(n.named.at[j]);
      std::size_t const whole = of(detail::split_axis(g, n));
      if (whole % inner != 0) throw std::invalid_argument("split: the length is not a multiple");
      of.set(n.named.at[0], whole / inner);
    } else if (n.kind == op::merge) {
      of.set(detail::merged_axis(g, n), detail::product(of, n.named));
    } else if (n.kind == op::concatenate) {
      std::size_t sum = 0;
      for (int j = 0; j < n.named.count; ++j) sum += of(n.named.at[j]);
      of.set(detail::whole_axis(g, n), sum);
    } else if (n.kind == op::windows) {
      auto const stride = static_cast<std::size_t>(n.lowest);
      std::size_t const reach =
          static_cast<std::size_t>(n.highest) * (of(n.named.at[2]) - 1);  // beyond a window's first
      std::size_t const whole = of(n.named.at[0]);
      of.set(n.named.at[1], whole > reach ? (whole - reach - 1) / stride + 1 : 0);
    } else if (n.kind == op::slice || n.kind == op::place) {
      auto const* const part = detail::part_axis(g, n);
      if (n.kind == op::place && n.named.at[0]->bounded && !of.is_set(n.named.at[0]))
        of.set(n.named.at[0], of(part) + n.named.at[0]->extent - part->extent);
      std::size_t const whole = of(n.named.at[0]);
      std::size_t const start = detail::start(of, n);
      if (n.kind == op::slice && part->bounded && !of.is_set(part) && start <= whole)
        of.set(part, whole - start);
      if (start + of(part) > whole)
        throw std::invalid_argument(std::string(part->name) + " ends beyond " +
                                    std::string(n.named.at[0]->name));
    }
  }
  return given;
}

namespace detail {

// What a dropout multiplies the element with the number with.
inline double kept_share(const node& numbers, const kernels::random_state& random, double number) {
  auto const salt = static_cast<std::uint32_t>(numbers.start);
  bool const dropped =
      kernels::is_dropped(kernels::random_word(random, salt, static_cast<std::uint32_t>(number)),
                          kernels::drop_below(numbers.scalar));
  return dropped ? 0 : 1 / (1 - numbers.scalar);
}

// Of attention and its adjoint; each as kernels/attention.hpp has it.
struct attention_values {
  std::vector<double> result;
  std::vector<double> query_gradient, key_gradient, value_gradient;
  std::vector<double> bias_gradient, relative_gradient;
};

// The operands' elements, dense over the axes of their nodes at the lengths; null for none.
struct attention_operands {
  const double *query, *key, *value, *mask, *bias, *offset, *lengths, *relative, *numbers, *g;
};

inline attention_values attention(const graph& g, const node& n, const lengths& of,
                                  const attention_operands& x,
                                  const kernels::random_state& random) {
  attention_axes const axes = attention_axes_of(g, n);
  node const& forward = n.kind == op::attention ? n : g.nodes[n.operand[3]];
  auto const dense = [&](int node) { return node < 0 ? layout() : layout(g.nodes[node].axes, of); };
  layout const of_query = dense(n.operand[0]), of_key = dense(n.operand[1]),
               of_value = dense(n.operand[2]),
               of_mask = dense(find_option(n, attention_option::mask)),
               of_bias = dense(find_option(n, attention_option::bias)),
               of_offset = dense(find_option(n, attention_option::offset)),
               of_lengths = dense(find_option(n, attention_option::lengths)),
               of_relative = dense(find_option(n, attention_option::relative)),
               of_numbers = dense(find_option(n, attention_option::dropout)),
               of_result(forward.axes, of);
  std::size_t const keys = of(axes.key), depth = of(axes.depth), width = of(axes.value);
  attention_values v{
      std::vector<double>(of_result.size()), std::vector<double>(of_query.size()),
      std::vector<double>(of_key.size()),    std::vector<double>(of_value.size()),
      std::vector<double>(of_bias.size()),   std::vector<double>(of_relative.size())};
  // Of key j from query i, whose place the element o of the offsets moves.
  auto const distance = [&](std::size_t i, std::size_t j, auto o) {
    return static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i) -
           static_cast<std::int64_t>(x.offset ? x.offset[o] : 0);
  };
  auto const seen = [&](std::size_t i, std::size_t j, auto o, auto l) {
    auto const place = distance(i, j, o);
    bool const inside = !x.lengths || static_cast<std::int64_t>(j) <
                                          static_cast<std::int64_t>(x.lengths[l]) + n.start;
    return inside && n.lowest <= place && place <= n.highest;
  };
  // Where the row of the relative bias that begins at t has what is added for it.
  auto const looked_up = [&](std::size_t i, std::size_t j, auto o, auto t) {
    auto const last = static_cast<std::int64_t>(of(axes.distance)) - 1;
    auto const index = std::clamp<std::int64_t>(distance(i, j, o) + n.origin, 0, last);
    return t + static_cast<std::size_t>(index) * of_relative.stride(axes.distance);
  };
  auto const each_row = [&](std::size_t i, auto q, auto k, auto w, auto m, auto b, auto o, auto l,
                            auto t, auto u, auto r) {
    std::vector<double> weights(keys), slope(keys, n.scale), kept(keys, 1);
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double s = 0;
      for (std::size_t d = 0; d < depth; ++d)
        s += x.query[q + d * of_query.stride(axes.depth)] *
             x.key[k + j * of_key.stride(axes.key) + d * of_key.stride(axes.depth)];
      s *= n.scale;
      if (n.scalar != 0) {
        double const t = std::tanh(s / n.scalar);
        s = n.scalar * t;
        slope[j] *= 1 - t * t;
      }
      if (x.bias) s += x.bias[b + j * of_bias.stride(axes.key)];
      if (x.relative) s += x.relative[looked_up(i, j, o, t)];
      if (!seen(i, j, o, l) || (x.mask && x.mask[m + j * of_mask.stride(axes.key)] == 0))
        s = -std::numeric_limits<double>::infinity();
      weights[j] = s;
      greatest = maximum(greatest, s);
      if (x.numbers)
        kept[j] = kept_share(g.nodes[find_option(n, attention_option::dropout)], random,
                             x.numbers[u + j * of_numbers.stride(axes.key)]);
    }
    bool const hidden = std::isinf(greatest) && greatest < 0;
    for (double& s : weights) sum += s = hidden ? 0 : std::exp(s - greatest);
    double inner = 0;  // the sum of g * result
    for (std::size_t e = 0; e < width; ++e) {
      double y = 0;
      for (std::size_t j = 0; j < keys && !hidden; ++j)
        y += kept[j] * weights[j] / sum *
             x.value[w + j * of_value.stride(axes.key) + e * of_value.stride(axes.value)];
      std::size_t const at = r + e * of_result.stride(axes.value);
      v.result[at] = y;
      if (x.g) inner += x.g[at] * y;
    }
    for (std::size_t j = 0; x.g && j < keys && !hidden; ++j) {
      double const weight = weights[j] / sum;
      double dw = 0;
      for (std::size_t e = 0; e < width; ++e) {
        std::size_t const at = w + j * of_value.stride(axes.key) + e * of_value.stride(axes.value);
        double const g_here = x.g[r + e * of_result.stride(axes.value)];
        dw += kept[j] * g_here * x.value[at];
        v.value_gradient[at] += kept[j] * weight * g_here;
      }
      double const dz = weight * (dw - inner), ds = dz * slope[j];
      if (x.bias) v.bias_gradient[b + j * of_bias.stride(axes.key)] += dz;
      if (x.relative) v.relative_gradient[looked_up(i, j, o, t)] += dz;
      for (std::size_t d = 0; d < depth; ++d) {
        std::size_t const at_query = q + d * of_query.stride(axes.depth);
        std::size_t const at_key = k + j * of_key.stride(axes.key) + d * of_key.stride(axes.depth);
        v.query_gradient[at_query] += ds * x.key[at_key];
        v.key_gradient[at_key] += ds * x.query[at_query];
      }
    }
  };
  std::size_t const queries = axes.query ? of(axes.query) : 1;
  auto const step = [&](const layout& l) { return axes.query ? l.stride(axes.query) : 0; };
  for_each(to_axes(axes.batch), of,
           {of_query, of_key, of_value, of_mask, of_bias, of_offset, of_lengths, of_relative,
            of_numbers, of_result},
           [&](auto q, auto k, auto w, auto m, auto b, auto o, auto l, auto t, auto u, auto r) {
             for (std::size_t i = 0; i < queries; ++i)
               each_row(i, q + i * step(of_query), k, w, m + i * step(of_mask),
                        b + i * step(of_bias), o, l, t + i * step(of_relative),
                        u + i * step(of_numbers), r + i * step(of_result));
           });
  return v;
}

class evaluation {
 public:
  evaluation(const graph& g, const lengths& of, const bindings& b) : g_(g), of_(of), b_(b) {}

  template <class Seen>
  std::vector<values> run(Seen seen) {
    all_.resize(static_cast<std::size_t>(g_.count));
    for (int i = 0; i < g_.count;) {
      if (int const body = loop_of(g_, i); body > 0) {
        int const first = i;
        while (i < g_.count && loop_of(g_, i) == body) ++i;
        run_body(first, i, g_.regions[body - 1], seen);
      } else {
        of_node(i) = compute(g_.nodes[i]);
        seen(i, all_);
        ++i;
      }
    }
    return std::move(all_);
  }

 private:
  values& of_node(int id) { return all_[static_cast<std::size_t>(id)]; }

  // Nodes [first, end), once for each element of the region's axis.
  template <class Seen>
  void run_body(int first, int end, const region& r, Seen& seen) {
    auto const each = [&](op kind, auto f) {
      for (int i = first; i < end; ++i)
        if (g_.nodes[i].kind == kind) f(i, g_.nodes[i]);
    };
    each(op::carry, [&](int i, const node& n) { of_node(i) = compute(n); });
    each(op::stack, [&](int i, const node& n) { of_node(i).data.resize(dense(n.axes).size()); });
    std::size_t const steps = of_(r.axis);
    for (std::size_t step = 0; step < steps; ++step) {
      place_ = r.backwards ? steps - 1 - step : step;
      for (int i = first; i < end; ++i) {
        node const& n = g_.nodes[i];
        if (n.kind == op::stack)
          write_step(n, of_node(i));
        else if (n.kind != op::carry)
          of_node(i) = compute(n);
        seen(i, all_);
      }
      each(op::next, [&](int i, const node& n) { of_node(n.operand[0]) = of_node(i); });
    }
  }
  void write_step(const node& n, values& whole) const {
    layout at = dense(n.axes);
    std::size_t const first = place_ * at.take(n.named.at[0]);
    for_each(to_axes(axes_of(n, 0)), of_, {at, layout_of(n, 0)},
             [&](auto i, auto a) { whole.data[first + i] = data(n, 0)[a]; });
  }

  layout dense(const axis_list& list) const { return {list, of_}; }
  layout layout_of(const node& n, int operand) const {
    return operand < n.operands ? dense(g_.nodes[n.operand[operand]].axes) : layout();
  }
  const axis_list& axes_of(const node& n, int operand) const {
    return g_.nodes[n.operand[operand]].axes;
  }
  // An operand's elements; a 0 for one that the operation has not.
  const double* data(const node& n, int operand) const {
    static constexpr double none = 0;
    return operand < n.operands ? all_[static_cast<std::size_t>(n.operand[operand])].data.data()
                                : &none;
  }

  values compute(const node& n) const {
    layout const result = dense(n.axes);
    values v{std::vector<double>(result.size())};
    double* const r = v.data.data();
    double const* const x = data(n, 0);
    double const* const y = data(n, 1);
    double const* const z = data(n, 2);
    layout const of_x = layout_of(n, 0), of_y = layout_of(n, 1), of_z = layout_of(n, 2);
    axes const own = to_axes(n.axes);

    if (n.kind == op::dropout) {
      node const& numbers = g_.nodes[n.operand[1]];
      for_each(own, of_, {result, of_x, of_y},
               [&](auto i, auto a, auto b) { r[i] = x[a] * kept_share(numbers, b_.random, y[b]); });
      return v;
    }
    if (is_elementwise(n.kind)) {
      for_each(own, of_, {result, of_x, of_y, of_z},
               [&](auto i, auto a, auto b, auto c) { r[i] = elementwise(n, x[a], y[b], z[c]); });
      return v;
    }
    if (is_rowwise(n.kind)) {
      axes const along = to_axes(n.named);
      layout const of_w = layout_of(n, 3);
      for_each(without(own, along), of_, {result, of_x, of_y, of_z, of_w},
               [&](auto i, auto a, auto b, auto c, auto d) {
                 std::size_t const first[]{a, b, c, d};
                 std::array<std::vector<double>, 4> rows;
                 for (int o = 0; o < n.operands; ++o) {
                   auto const at = static_cast<std::size_t>(o);
                   for_each(along, of_, {layout_of(n, o)},
                            [&](auto j) { rows[at].push_back(data(n, o)[first[at] + j]); });
                 }
                 std::vector<double> const row = rowwise_with_others(n, std::move(rows));
                 std::size_t next = 0;
                 for_each(along, of_, {result}, [&](auto j) { r[i + j] = row[next++]; });
               });
      return v;
    }
    switch (n.kind) {
      case op::row_sums: {
        node const& adjoint = g_.nodes[n.operand[0]];
        axes const along = to_axes(adjoint.named);
        layout const at_x = layout_of(adjoint, 0), at_g = layout_of(adjoint, 1);
        node normal = adjoint;
        normal.kind = op::normalize;
        for_each(without(to_axes(adjoint.axes), along), of_, {at_x, at_g}, [&](auto a, auto b) {
          std::vector<double> row;
          for_each(along, of_, {at_x}, [&](auto j) { row.push_back(data(adjoint, 0)[a + j]); });
          std::vector<double> const h = detail::rowwise(normal, row, row);
          std::size_t next = 0;
          for_each(along, of_, {result, at_g}, [&](auto j, auto k) {
            r[j] += data(adjoint, 1)[b + k] * (n.start == 0 ? h[next++] : 1);
          });
        });
        return v;
      }
      case op::input:
        return bound(g_.inputs[n.leaf], b_.inputs, result.size());
      case op::parameter: {
        layout const stored(n.axes, [](const auto* axis) { return axis->extent; });
        values const p = bound(g_.parameters[n.leaf], b_.parameters, stored.size());
        for_each(own, of_, {result, stored}, [&](auto i, auto a) { r[i] = p.data[a]; });
        return v;
      }
      case op::state: {
        layout const stored(n.axes, [](const auto* axis) { return axis->extent; });
        auto const found = b_.states.find(g_.name(g_.states[n.leaf].name));
        if (found != b_.states.end())
          for_each(own, of_, {result, stored}, [&](auto i, auto a) { r[i] = found->second.at(a); });
        return v;
      }
      case op::write: {
        auto const *const into = n.named.at[0], *const row = n.named.at[1];
        std::copy_n(x, v.data.size(), r);
        layout to = result;
        std::size_t const stride = to.take(into);
        layout which;  // of the rows
        which.put(row, 1);
        for_each(put_in_place(own, into, row), of_, {to, of_y, of_z, layout_of(n, 3), which},
                 [&](auto i, auto a, auto b, auto c, auto p) {
                   double const place = z[b] + static_cast<double>(p);
                   bool const counts = n.operands < 4 || static_cast<double>(p) < data(n, 3)[c];
                   if (counts && place >= 0 && place < static_cast<double>(of_(into)))
                     r[i + static_cast<std::size_t>(place) * stride] = y[a];
                 });
        return v;
      }
      case op::constant:
        v.data.assign(v.data.size(), n.scalar);
        return v;
      case op::numbers: {
        layout const stored(n.axes, [](const auto* axis) { return axis->extent; });
        for_each(own, of_, {result, stored},
                 [&](auto i, auto a) { r[i] = static_cast<double>(a); });
        return v;
      }
      case op::rename:  // the same elements in the same order
      case op::split:
        return all_[static_cast<std::size_t>(n.operand[0])];
      case op::last:
        return all_[static_cast<std::size_t>(n.operand[0])];
      case op::element: {
        layout whole = of_x;
        std::size_t const first = place_ * whole.take(n.named.at[0]);
        for_each(own, of_, {result, whole}, [&](auto i, auto a) { r[i] = x[first + a]; });
        return v;
      }
      case op::carry:  // the beginning; a number is broadcast
        for_each(own, of_, {result, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
        return v;
      case op::next:
        for_each(own, of_, {result, of_y}, [&](auto i, auto b) { r[i] = y[b]; });
        return v;
      case op::merge: {
        layout apart = result;
        std::size_t stride = apart.take(merged_axis(g_, n));
        for (int i = n.named.count; i-- > 0; stride *= of_(n.named.at[i]))
          apart.put(n.named.at[i], stride);
        for_each(to_axes(axes_of(n, 0)), of_, {apart, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
        return v;
      }
      case op::slice: {
        layout whole = of_x;
        std::size_t const first = start(of_, n) * whole.stride(n.named.at[0]);
        whole.rename(n.named.at[0], part_axis(g_, n));
        for_each(own, of_, {result, whole}, [&](auto i, auto a) { r[i] = x[first + a]; });
        return v;
      }
      case op::place: {
        layout whole = result;
        std::size_t const first = start(of_, n) * whole.stride(n.named.at[0]);
        axes const at_part = put_in_place(own, n.named.at[0], part_axis(g_, n));
        whole.rename(n.named.at[0], part_axis(g_, n));
        for_each(at_part, of_, {whole, of_x}, [&](auto i, auto a) { r[first + i] = x[a]; });
        return v;
      }
      case op::windows:
        for_each(own, of_, {result, looked_at(of_x, n)}, [&](auto i, auto a) { r[i] = x[a]; });
        return v;
      case op::overlap_add:
        for_each(to_axes(axes_of(n, 0)), of_, {looked_at(result, n), of_x},
                 [&](auto i, auto a) { r[i] += x[a]; });
        return v;
      case op::concatenate: {
        auto const* const axis = whole_axis(g_, n);
        std::size_t first = 0;
        for (int p = 0; p < n.operands; ++p) {
          auto const* const part = n.named.at[p];
          double const* const from = data(n, p);
          layout whole = result;
          whole.rename(axis, part);
          for_each(put_in_place(own, axis, part), of_, {whole, layout_of(n, p)},
                   [&](auto i, auto a) { r[first + i] = from[a]; });
          first += of_(part) * result.stride(axis);
        }
        return v;
      }
      case op::positions:
        for (std::size_t i = 0; i < v.data.size(); ++i) r[i] = static_cast<double>(i);
        return v;
      case op::length:
        r[0] = static_cast<double>(product(of_, n.named));
        return v;
      case op::sum:
        for_each(united(n.axes, axes_of(n, 0)), of_, {result, of_x, of_y},
                 [&](auto i, auto a, auto b) { r[i] += n.operands == 1 ? x[a] : x[a] * y[b]; });
        return v;
      case op::max:
        v.data.assign(v.data.size(), -std::numeric_limits<double>::infinity());
        for_each(united(n.axes, axes_of(n, 0)), of_, {result, of_x},
                 [&](auto i, auto a) { r[i] = maximum(r[i], x[a]); });
        return v;
      case op::dot:
        for_each(united(n.axes, axes_of(n, 0), axes_of(n, 1)), of_, {result, of_x, of_y},
                 [&](auto i, auto a, auto b) { r[i] += x[a] * y[b]; });
        for (double& e : v.data) e *= n.scale;
        for (int addend = 2; addend < n.operands; ++addend)
          for_each(own, of_, {result, layout_of(n, addend)},
                   [&](auto i, auto a) { r[i] += data(n, addend)[a]; });
        for (double& e : v.data) e = elementwise(make_node(n.then), e, 0, 0);
        return v;
      case op::attention:
        return {attention(g_, n, of_, operands_of(n), b_.random).result};
      case op::attention_adjoint: {  // its parts, one behind the other
        attention_values const a = attention(g_, n, of_, operands_of(n), b_.random);
        v.data.clear();
        auto const append = [&](const std::vector<double>& part) {
          v.data.insert(v.data.end(), part.begin(), part.end());
        };
        append(a.query_gradient);
        append(a.key_gradient);
        append(a.value_gradient);
        if (has_option(n, attention_option::bias_gradient)) append(a.bias_gradient);
        if (has_option(n, attention_option::relative_gradient)) append(a.relative_gradient);
        return v;
      }
      case op::part: {
        attention_parts const parts = parts_of(g_.nodes[n.operand[0]]);
        std::size_t first = 0;
        for (int j = 0; j < n.start; ++j) first += dense(g_.nodes[parts.of[j]].axes).size();
        std::copy_n(x + first, v.data.size(), r);
        return v;
      }
      case op::rotate:
        rotate(n, r);
        return v;
      case op::rotate_adjoint:
        rotate_adjoint(n, r);
        return v;
      case op::gather: {
        auto const* const indexed = n.named.at[0];
        auto const size = static_cast<double>(of_(indexed));
        layout table = of_x;
        std::size_t const stride = table.take(indexed);
        for_each(own, of_, {result, table, of_y}, [&](auto i, auto a, auto b) {
          if (y[b] >= 0 && y[b] < size) r[i] = x[a + static_cast<std::size_t>(y[b]) * stride];
        });
        return v;
      }
      case op::scatter_add: {
        auto const* const indexed = n.named.at[0];
        auto const size = static_cast<double>(of_(indexed));
        layout table = result;
        std::size_t const stride = table.take(indexed);
        for_each(without(united(axes_of(n, 0), axes_of(n, 1), n.axes), {indexed}), of_,
                 {table, of_x, of_y}, [&](auto i, auto a, auto b) {
                   if (y[b] >= 0 && y[b] < size)
                     r[i + static_cast<std::size_t>(y[b]) * stride] += x[a];
                 });
        return v;
      }
      default:
        throw std::logic_error("reference: " + std::string(name_of(n.kind)));
    }
  }

  // Gives the layout pairs in the place of numbers, and says how far a pair's second number is.
  static std::size_t take_pairs(const node& n, layout& of) {
    std::size_t const stride = of.take(n.named.at[0]);
    of.put(n.named.at[1], stride * pair_steps_of(n).next);
    return stride * pair_steps_of(n).partner;
  }
  void rotate(const node& n, double* r) const {
    double const *x = data(n, 0), *cosine = data(n, 1), *sine = data(n, 2);
    layout result = dense(n.axes), of_x = layout_of(n, 0);
    for_each(to_axes(n.axes), of_, {result, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
    std::size_t const to = take_pairs(n, result), from = take_pairs(n, of_x);
    for_each(put_in_place(to_axes(n.axes), n.named.at[0], n.named.at[1]), of_,
             {result, of_x, layout_of(n, 1), layout_of(n, 2)}, [&](auto i, auto a, auto c, auto s) {
               r[i] = x[a] * cosine[c] - x[a + from] * sine[s];
               r[i + to] = x[a + from] * cosine[c] + x[a] * sine[s];
             });
  }
  void rotate_adjoint(const node& n, double* r) const {
    double const *x = data(n, 0), *g = data(n, 1);
    layout of_x = layout_of(n, 0), of_g = layout_of(n, 1);
    std::size_t const second = take_pairs(n, of_x), second_g = take_pairs(n, of_g);
    for_each(to_axes(n.axes), of_, {dense(n.axes), of_x, of_g}, [&](auto i, auto a, auto b) {
      r[i] = n.scalar == 0 ? g[b] * x[a] + g[b + second_g] * x[a + second]
                           : g[b + second_g] * x[a] - g[b] * x[a + second];
    });
  }

  attention_operands operands_of(const node& n) const {
    auto const of = [&](int id) {
      return id < 0 ? nullptr : all_[static_cast<std::size_t>(id)].data.data();
    };
    return {of(n.operand[0]),
            of(n.operand[1]),
            of(n.operand[2]),
            of(find_option(n, attention_option::mask)),
            of(find_option(n, attention_option::bias)),
            of(find_option(n, attention_option::offset)),
            of(find_option(n, attention_option::lengths)),
            of(find_option(n, attention_option::relative)),
            of(find_option(n, attention_option::dropout)),
            of(n.kind == op::attention ? -1 : n.operand[4])};
  }

  // What windows look at, by window and place.
  static layout looked_at(layout whole, const node& n) {
    std::size_t const stride = whole.take(n.named.at[0]);
    whole.put(n.named.at[1], stride * static_cast<std::size_t>(n.lowest));
    whole.put(n.named.at[2], stride * static_cast<std::size_t>(n.highest));
    return whole;
  }
  static axes put_in_place(axes list, const axis_info* of, const axis_info* axis) {
    std::replace(list.begin(), list.end(), of, axis);
    return list;
  }
  values bound(const leaf& l, const bindings::map& given, std::size_t size) const {
    std::string const name(g_.name(l.name));
    auto const found = given.find(name);
    if (found == given.end()) throw std::invalid_argument(name + " is not given");
    if (found->second.size() != size)
      throw std::invalid_argument(name + " has " + std::to_string(found->second.size()) +
                                  " elements, not " + std::to_string(size));
    return {found->second};
  }

  const graph& g_;
  const lengths& of_;
  const bindings& b_;
  std::vector<values> all_;
  std::size_t place_ = 0;  // of the current step of a scan, along its axis
};

}  // namespace detail

// The values of every node of g, in the order of the nodes; those in the body of a scan, which
// stand together as sweep leaves them, are of its last step. seen(i, values) is called whenever
// node i has got its values.
template <class Seen>
std::vector<values> evaluate(const graph& g, const lengths& given, const bindings& b, Seen seen) {
  lengths const all = complete(g, given);
  return detail::evaluation(g, all, b).run(seen);
}
inline std::vector<values> evaluate(const graph& g, const lengths& given, const bindings& b) {
  return evaluate(g, given, b, [](int, const std::vector<values>&) {});
}

namespace detail {

inline const values& output(const graph& g, const std::vector<values>& all, role kind,
                            std::string_view name) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == kind && g.name(g.outputs[i].name) == name)
      return all[static_cast<std::size_t>(g.outputs[i].node)];
  throw std::invalid_argument("no output is called " + std::string(name));
}

}  // namespace detail

// Of what evaluate gave: a result of the model, and the gradient for a parameter.
inline const values& result(const graph& g, const std::vector<values>& all,
                            std::string_view name = "result") {
  return detail::output(g, all, role::result, name);
}
inline const values& gradient(const graph& g, const std::vector<values>& all,
                              std::string_view parameter) {
  return detail::output(g, all, role::gradient, parameter);
}
// What a state becomes.
inline const values& updated(const graph& g, const std::vector<values>& all,
                             std::string_view state) {
  return detail::output(g, all, role::update, state);
}

// A tensor as a parameter is stored, every axis at its bound, with zeros beyond the lengths of the
// run. `of` comes from complete.
inline values at_bound(const values& v, const axis_list& axes, const lengths& of) {
  detail::layout const stored(axes, [](const auto* axis) { return axis->extent; });
  values all{std::vector<double>(stored.size())};
  detail::for_each(detail::to_axes(axes), of, {stored, detail::layout(axes, of)},
                   [&](auto i, auto a) { all.data[i] = v.data[a]; });
  return all;
}

}  // namespace weft::reference
