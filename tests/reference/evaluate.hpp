// The semantics of a graph, as plainly as possible: an interpreter in double precision, at run
// time, one element at a time. The kernels and passes are tested against it; nothing else uses it.
// Integers and booleans are held as doubles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/attention.hpp"
#include "reference/elementwise.hpp"
#include "reference/lengths.hpp"
#include "reference/rowwise.hpp"
#include "reference/tensors.hpp"
#include "weft/graph/attention.hpp"
#include "weft/graph/rotation.hpp"
#include "weft/graph/scan.hpp"

namespace weft::reference {

namespace detail {

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

  // Runs nodes [first, end), the body of a scan, once for each index of the region's axis.
  template <class Seen>
  void run_body(int first, int end, const region& r, Seen& seen) {
    auto const each = [&](op kind, auto f) {
      for (int i = first; i < end; ++i)
        if (g_.nodes[i].kind == kind) f(i, g_.nodes[i]);
    };
    each(op::carry, [&](int i, const node& n) { of_node(i) = compute(n); });
    each(op::scan_collect,
         [&](int i, const node& n) { of_node(i).data.resize(dense(n.axes).size()); });
    std::size_t const steps = of_(r.axis);
    for (std::size_t step = 0; step < steps; ++step) {
      place_ = r.backwards ? steps - 1 - step : step;
      for (int i = first; i < end; ++i) {
        node const& n = g_.nodes[i];
        if (n.kind == op::scan_collect)
          write_step(n, of_node(i));
        else if (n.kind != op::carry)
          of_node(i) = compute(n);
        seen(i, all_);
      }
      each(op::yield, [&](int i, const node& n) { of_node(n.operand[0]) = of_node(i); });
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
  // An operand's elements; a single 0 if the operation does not have it.
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
      for_each(own, of_, {result, of_x, of_y}, [&](auto i, auto a, auto b) {
        double const share = kept_share(numbers, b_.random, y[b]);
        r[i] = share == 0 ? 0 : share * x[a];  // NaN is dropped too
      });
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
      case op::norm_parameter_gradient: {
        node const& adjoint = g_.nodes[n.operand[0]];
        axes const along = to_axes(adjoint.named);
        layout const at_x = layout_of(adjoint, 0), at_g = layout_of(adjoint, 1);
        node normal = adjoint;
        normal.kind = normalization_of_adjoint(adjoint.kind);
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
      case op::update_rows: {
        auto const *const into = n.named.at[0], *const row = n.named.at[1];
        std::copy_n(x, v.data.size(), r);
        layout to = result;
        std::size_t const stride = to.take(into);
        layout which;  // offset p is the index of the row
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
      case op::element_ids: {
        layout const stored(n.axes, [](const auto* axis) { return axis->extent; });
        for_each(own, of_, {result, stored},
                 [&](auto i, auto a) { r[i] = static_cast<double>(a); });
        return v;
      }
      case op::rename:  // the same elements in the same order
      case op::split:
        return all_[static_cast<std::size_t>(n.operand[0])];
      case op::scan_result:
        return all_[static_cast<std::size_t>(n.operand[0])];
      case op::scan_slice: {
        layout whole = of_x;
        std::size_t const first = place_ * whole.take(n.named.at[0]);
        for_each(own, of_, {result, whole}, [&](auto i, auto a) { r[i] = x[first + a]; });
        return v;
      }
      case op::carry:  // the initial value; a scalar is broadcast
        for_each(own, of_, {result, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
        return v;
      case op::yield:
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
      case op::pad: {
        layout whole = result;
        std::size_t const first = start(of_, n) * whole.stride(n.named.at[0]);
        axes const at_part = put_in_place(own, n.named.at[0], part_axis(g_, n));
        whole.rename(n.named.at[0], part_axis(g_, n));
        for_each(at_part, of_, {whole, of_x}, [&](auto i, auto a) { r[first + i] = x[a]; });
        return v;
      }
      case op::unfold:
        for_each(own, of_, {result, looked_at(of_x, n)}, [&](auto i, auto a) { r[i] = x[a]; });
        return v;
      case op::fold:
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
        for (double& e : v.data) e = elementwise(make_node(n.epilogue), e, 0, 0);
        return v;
      case op::attention:
        return {attention(g_, n, of_, operands_of(n), b_.random).result};
      case op::attention_adjoint: {  // its results, concatenated
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
      case op::get_result: {
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

  // Replaces the layout's axis of elements by that of pairs; returns the offset from a pair's first
  // element to its second.
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

  // The unfolded layout: the axis of windows and that within a window instead of their operand's
  // axis.
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
  std::size_t place_ = 0;  // index of a scan's current step along its axis
};

}  // namespace detail

// The values of every node of g, in the order of the nodes; those in the body of a scan, which
// eliminate_dead_code leaves contiguous, are of its last step. seen(i, values) is called whenever
// node i has been computed. Throws std::invalid_argument if a binding is missing or has another
// size.
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

// From the values that evaluate returned: a result of the model, and the gradient for a parameter.
// Throw std::invalid_argument if there is none of this name.
inline const values& result(const graph& g, const std::vector<values>& all,
                            std::string_view name = "result") {
  return detail::output(g, all, role::result, name);
}
inline const values& gradient(const graph& g, const std::vector<values>& all,
                              std::string_view parameter) {
  return detail::output(g, all, role::gradient, parameter);
}
// The new value of a state.
inline const values& updated(const graph& g, const std::vector<values>& all,
                             std::string_view state) {
  return detail::output(g, all, role::update, state);
}

// A tensor in the layout of a stored parameter: every axis at its bound, with zeros beyond the
// lengths of the run. `of` is what complete returns.
inline values at_bound(const values& v, const axis_list& axes, const lengths& of) {
  detail::layout const stored(axes, [](const auto* axis) { return axis->extent; });
  values all{std::vector<double>(stored.size())};
  detail::for_each(detail::to_axes(axes), of, {stored, detail::layout(axes, of)},
                   [&](auto i, auto a) { all.data[i] = v.data[a]; });
  return all;
}

}  // namespace weft::reference
