// The results of operations that are neither elementwise nor rowwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "reference/attention.hpp"
#include "reference/computation.hpp"
#include "reference/elementwise.hpp"
#include "reference/rowwise.hpp"
#include "support/operands.hpp"
#include "weft/graph/rotation.hpp"

namespace weft::reference::detail {

// run() sets v to the result of an operation. Error bounds are in support/error_bound.cpp, unless a
// member is_exact says that the result is never rounded.
template <op>
struct computed;

// Replaces the layout's axis of elements by that of pairs; returns the offset from a pair's first
// element to its second.
inline std::size_t take_pairs(const node& n, layout& of) {
  const std::size_t stride = of.take(rotated_axis(n));
  of.put(axis_of_pairs(n), stride * pair_steps_of(n).next);
  return stride * pair_steps_of(n).partner;
}
// The unfolded layout: the axis of windows and that within a window instead of their operand's
// axis.
inline layout looked_at(layout whole, const node& n) {
  const std::size_t stride = whole.take(windowed_axis(n));
  whole.put(axis_of_windows(n), stride * static_cast<std::size_t>(window_stride(n)));
  whole.put(axis_in_window(n), stride * static_cast<std::size_t>(window_dilation(n)));
  return whole;
}
inline axes put_in_place(axes list, const axis_info* of, const axis_info* axis) {
  std::replace(list.begin(), list.end(), of, axis);
  return list;
}

template <>
struct computed<op::input> : computation {
  void run() const { v = given_values(g.inputs[n.leaf], given.inputs, result.size()); }
};
template <>
struct computed<op::parameter> : computation {
  void run() const {
    const layout stored(n.axes, [](const auto* axis) { return axis->extent; });
    const values p = given_values(g.parameters[n.leaf], given.parameters, stored.size());
    for_each(own, of, {result, stored}, [&](auto i, auto a) { r[i] = p.data[a]; });
  }
};
template <>
struct computed<op::state> : computation {
  void run() const {
    const layout stored(n.axes, [](const auto* axis) { return axis->extent; });
    const auto found = given.states.find(g.name(g.states[n.leaf].name));
    if (found != given.states.end())
      for_each(own, of, {result, stored}, [&](auto i, auto a) { r[i] = found->second.at(a); });
  }
};
template <>
struct computed<op::update_rows> : computation {
  void run() const {
    const auto *const into = updated_axis(n), *const row = axis_of_rows(n);
    std::copy_n(x, v.data.size(), r);
    layout to = result;
    const std::size_t stride = to.take(into);
    layout which;  // offset p is the index of the row
    which.put(row, 1);
    for_each(put_in_place(own, into, row), of, {to, of_y, of_z, layout_of(n, 3), which},
             [&](auto i, auto a, auto b, auto c, auto p) {
               double place = z[b] + static_cast<double>(p);
               if (place >= static_cast<double>(of(into)))
                 place -= static_cast<double>(ring_length(n));
               const bool counts =
                   testing::operand_count(n) < 4 || static_cast<double>(p) < data(n, 3)[c];
               if (counts && place >= 0 && place < static_cast<double>(of(into)))
                 r[i + static_cast<std::size_t>(place) * stride] = y[a];
             });
  }
};
template <>
struct computed<op::constant> : computation {
  void run() const { v.data.assign(v.data.size(), constant_value(n)); }
};
template <>
struct computed<op::element_ids> : computation {
  static constexpr bool is_exact = true;
  void run() const {
    const layout stored(n.axes, [](const auto* axis) { return axis->extent; });
    for_each(own, of, {result, stored}, [&](auto i, auto a) { r[i] = static_cast<double>(a); });
  }
};
template <>
struct computed<op::rename> : computation {  // the same elements in the same order
  void run() const { v = all[static_cast<std::size_t>(testing::operand_of(n, 0))]; }
};
template <>
struct computed<op::within> : computed<op::rename> {};
template <>
struct computed<op::stop_gradient> : computed<op::rename> {};
template <>
struct computed<op::split> : computed<op::rename> {};
template <>
struct computed<op::scan_result> : computed<op::rename> {};
template <>
struct computed<op::scan_slice> : computation {
  void run() const {
    layout whole = of_x;
    const std::size_t first = step * whole.take(scanned_axis(n));
    for_each(own, of, {result, whole}, [&](auto i, auto a) { r[i] = x[first + a]; });
  }
};
template <>
struct computed<op::carry> : computation {  // the initial value; a scalar is broadcast
  void run() const {
    for_each(own, of, {result, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
  }
};
template <>
struct computed<op::yield> : computation {
  void run() const {
    for_each(own, of, {result, of_y}, [&](auto i, auto b) { r[i] = y[b]; });
  }
};
template <>
struct computed<op::scan_collect>
    : computation {  // evaluation::run_body writes a part in each step
  void run() const {}
};
template <>
struct computed<op::merge> : computation {
  void run() const {
    layout apart = result;
    std::size_t stride = apart.take(merged_axis(g, n));
    const axis_list& parts = merged_axes(n);
    for (int i = parts.count; i-- > 0; stride *= of(parts.at[i])) apart.put(parts.at[i], stride);
    for_each(to_axes(axes_of(n, 0)), of, {apart, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
  }
};
template <>
struct computed<op::slice> : computation {
  void run() const {
    layout whole = of_x;
    const std::size_t first = start(of, n) * whole.stride(sliced_axis(n));
    whole.rename(sliced_axis(n), part_axis(g, n));
    for_each(own, of, {result, whole}, [&](auto i, auto a) { r[i] = x[first + a]; });
  }
};
template <>
struct computed<op::pad> : computation {
  void run() const {
    layout whole = result;
    const std::size_t first = start(of, n) * whole.stride(sliced_axis(n));
    const axes at_part = put_in_place(own, sliced_axis(n), part_axis(g, n));
    whole.rename(sliced_axis(n), part_axis(g, n));
    for_each(at_part, of, {whole, of_x}, [&](auto i, auto a) { r[first + i] = x[a]; });
  }
};
template <>
struct computed<op::unfold> : computation {
  void run() const {
    for_each(own, of, {result, looked_at(of_x, n)}, [&](auto i, auto a) { r[i] = x[a]; });
  }
};
template <>
struct computed<op::fold> : computation {
  void run() const {
    for_each(to_axes(axes_of(n, 0)), of, {looked_at(result, n), of_x},
             [&](auto i, auto a) { r[i] += x[a]; });
  }
};
template <>
struct computed<op::concatenate> : computation {
  void run() const {
    const auto* const axis = whole_axis(g, n);
    std::size_t first = 0;
    for (int p = 0; p < testing::operand_count(n); ++p) {
      const auto* const part = concatenated_axes(n).at[p];
      const double* const from = data(n, p);
      layout whole = result;
      whole.rename(axis, part);
      for_each(put_in_place(own, axis, part), of, {whole, layout_of(n, p)},
               [&](auto i, auto a) { r[first + i] = from[a]; });
      first += of(part) * result.stride(axis);
    }
  }
};
template <>
struct computed<op::positions> : computation {
  void run() const {
    for (std::size_t i = 0; i < v.data.size(); ++i) r[i] = static_cast<double>(i);
  }
};
template <>
struct computed<op::length> : computation {
  void run() const { r[0] = static_cast<double>(product(of, multiplied_axes(n))); }
};
template <>
struct computed<op::sum> : computation {
  void run() const {
    for_each(united(n.axes, axes_of(n, 0)), of, {result, of_x, of_y}, [&](auto i, auto a, auto b) {
      r[i] += testing::operand_count(n) == 1 ? x[a] : x[a] * y[b];
    });
  }
};
template <>
struct computed<op::max> : computation {
  void run() const {
    v.data.assign(v.data.size(), -std::numeric_limits<double>::infinity());
    for_each(united(n.axes, axes_of(n, 0)), of, {result, of_x},
             [&](auto i, auto a) { r[i] = functions::maximum(r[i], x[a]); });
  }
};
template <>
struct computed<op::dot> : computation {
  void run() const {
    for_each(united(n.axes, axes_of(n, 0), axes_of(n, 1)), of, {result, of_x, of_y},
             [&](auto i, auto a, auto b) { r[i] += x[a] * y[b]; });
    for (double& e : v.data) e *= n.scale;
    for (int addend = 2; addend < testing::operand_count(n); ++addend)
      for_each(own, of, {result, layout_of(n, addend)},
               [&](auto i, auto a) { r[i] += data(n, addend)[a]; });
    for (double& e : v.data) e = elementwise(make_node(n.epilogue), e, 0, 0);
  }
};
template <>
struct computed<op::attention> : computation {
  void run() const { v = {attention_of(n).result}; }
};
template <>
struct computed<op::attention_adjoint> : computation {  // its results, concatenated
  void run() const {
    const attention_values a = attention_of(n);
    v.data.clear();
    for_each_gradient(n, [&](const slot& s, int) {
      const std::vector<double>& part = a.gradient_for[s.gradient_of];
      v.data.insert(v.data.end(), part.begin(), part.end());
    });
  }
};
template <>
struct computed<op::get_result> : computation {
  void run() const {
    std::size_t first = 0;
    std::int64_t before = result_index(n);
    for_each_gradient(g.nodes[testing::operand_of(n, 0)], [&](const slot&, int shape) {
      if (before-- > 0) first += dense(g.nodes[shape].axes).size();
    });
    std::copy_n(x + first, v.data.size(), r);
  }
};
template <>
struct computed<op::rotate> : computation {
  void run() const {
    for_each(own, of, {result, of_x}, [&](auto i, auto a) { r[i] = x[a]; });
    layout to_pairs = result, from_pairs = of_x;
    const std::size_t to = take_pairs(n, to_pairs), from = take_pairs(n, from_pairs);
    for_each(put_in_place(own, rotated_axis(n), axis_of_pairs(n)), of,
             {to_pairs, from_pairs, of_y, of_z}, [&](auto i, auto a, auto c, auto s) {
               r[i] = x[a] * y[c] - x[a + from] * z[s];
               r[i + to] = x[a + from] * y[c] + x[a] * z[s];
             });
  }
};
template <>
struct computed<op::rotate_adjoint> : computation {
  void run() const {
    layout pairs = of_x, pairs_g = of_y;
    const std::size_t second = take_pairs(n, pairs), second_g = take_pairs(n, pairs_g);
    for_each(own, of, {result, pairs, pairs_g}, [&](auto i, auto a, auto b) {
      r[i] = rotation_factor(n) == 0 ? y[b] * x[a] + y[b + second_g] * x[a + second]
                                     : y[b + second_g] * x[a] - y[b] * x[a + second];
    });
  }
};
template <>
struct computed<op::gather> : computation {
  void run() const {
    const auto* const indexed = indexed_axis(n);
    const auto size = static_cast<double>(of(indexed));
    layout table = of_x;
    const std::size_t stride = table.take(indexed);
    for_each(own, of, {result, table, of_y}, [&](auto i, auto a, auto b) {
      if (y[b] >= 0 && y[b] < size) r[i] = x[a + static_cast<std::size_t>(y[b]) * stride];
    });
  }
};
template <>
struct computed<op::top_k> : computation {
  static constexpr bool is_exact = true;
  void run() const {
    const auto *const along = ranked_axis(n), *const selected = selected_axis(n);
    layout row = of_x, best = result;
    const std::size_t stride = row.take(along), to = best.take(selected);
    const std::size_t count = of(along), k = of(selected);
    for_each(without(own, {selected}), of, {best, row}, [&](auto i, auto a) {
      std::vector<std::size_t> order(count);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
        const double u = x[a + p * stride], w = x[a + q * stride];
        return std::isnan(u) ? !std::isnan(w) : u > w;
      });
      for (std::size_t j = 0; j < k; ++j)
        r[i + j * to] = j < count ? static_cast<double>(order[j]) : -1;
    });
  }
};
template <>
struct computed<op::scatter_add> : computation {
  void run() const {
    const auto* const indexed = indexed_axis(n);
    const auto size = static_cast<double>(of(indexed));
    layout table = result;
    const std::size_t stride = table.take(indexed);
    for_each(without(united(axes_of(n, 0), axes_of(n, 1), n.axes), {indexed}), of,
             {table, of_x, of_y}, [&](auto i, auto a, auto b) {
               if (y[b] >= 0 && y[b] < size) r[i + static_cast<std::size_t>(y[b]) * stride] += x[a];
             });
  }
};
template <>
struct computed<op::norm_parameter_gradient> : computation {
  void run() const {
    const node& adjoint = g.nodes[testing::operand_of(n, 0)];
    const axes along = to_axes(row_axes(adjoint));
    const layout at_x = layout_of(adjoint, 0), at_g = layout_of(adjoint, 1);
    node normal = adjoint;
    normal.kind = normalization_of_adjoint(adjoint.kind);
    for_each(without(to_axes(adjoint.axes), along), of, {at_x, at_g}, [&](auto a, auto b) {
      std::vector<double> row;
      for_each(along, of, {at_x}, [&](auto j) { row.push_back(data(adjoint, 0)[a + j]); });
      const std::vector<double> h = detail::rowwise(normal, row, row);
      std::size_t next = 0;
      for_each(along, of, {result, at_g}, [&](auto j, auto k) {
        r[j] += data(adjoint, 1)[b + k] * (norm_parameter(n) == 0 ? h[next++] : 1);
      });
    });
  }
};

}  // namespace weft::reference::detail
