// Attention and its gradients, one query at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/tensors.hpp"
#include "weft/graph/attention.hpp"

namespace weft::reference {

namespace detail {

// The results of attention and its adjoint, as defined in kernels/attention.hpp.
struct attention_values {
  std::vector<double> result;
  std::vector<double> query_gradient, key_gradient, value_gradient;
  std::vector<double> bias_gradient, relative_gradient, sink_gradient;

  const std::vector<double>& gradient_for(role what) const {
    switch (what) {
      case role::query:
        return query_gradient;
      case role::key:
        return key_gradient;
      case role::value:
        return value_gradient;
      case role::bias:
        return bias_gradient;
      case role::relative:
        return relative_gradient;
      case role::sink:
        return sink_gradient;
      default:
        throw std::logic_error("reference: attention has no gradient for an operand");
    }
  }
};

static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "reference: an operand of attention is not read by reference/attention.hpp");
// data(id) gives the elements of a node, dense over its axes with the lengths of the run.
template <class Data>
attention_values attention(const graph& g, const node& n, const lengths& of, Data data,
                           const kernels::random_state& random) {
  const attention_axes axes = attention_axes_of(g, n);
  const auto elements = [&](role what) -> const double* {
    const int id = find_operand(n, what);
    return id < 0 ? nullptr : data(id);
  };
  const struct {
    const double *query, *key, *value, *mask, *bias, *offset, *begins, *lengths, *relative, *sink,
        *numbers, *g;
  } x{elements(role::query),  elements(role::key),         elements(role::value),
      elements(role::mask),   elements(role::bias),        elements(role::offset),
      elements(role::begins), elements(role::lengths),     elements(role::relative),
      elements(role::sink),   elements(role::element_ids), elements(role::g)};
  const auto dense = [&](role what) {
    const int id = find_operand(n, what);
    return id < 0 ? layout() : layout(g.nodes[id].axes, of);
  };
  const layout of_query = dense(role::query), of_key = dense(role::key),
               of_value = dense(role::value), of_mask = dense(role::mask),
               of_bias = dense(role::bias), of_offset = dense(role::offset),
               of_begins = dense(role::begins), of_lengths = dense(role::lengths),
               of_relative = dense(role::relative), of_sink = dense(role::sink),
               of_numbers = dense(role::element_ids),
               of_result = n.kind == op::attention ? layout(n.axes, of) : dense(role::result);
  const std::size_t keys = of(axes.key), depth = of(axes.depth), width = of(axes.value);
  attention_values v{std::vector<double>(of_result.size()), std::vector<double>(of_query.size()),
                     std::vector<double>(of_key.size()),    std::vector<double>(of_value.size()),
                     std::vector<double>(of_bias.size()),   std::vector<double>(of_relative.size()),
                     std::vector<double>(of_sink.size())};
  // The position of key j relative to query i, which is shifted by element o of the offsets.
  const auto distance = [&](std::size_t i, std::size_t j, auto o) {
    return static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i) -
           static_cast<std::int64_t>(x.offset ? x.offset[o] : 0);
  };
  const auto seen = [&](std::size_t i, std::size_t j, auto o, auto f, auto l) {
    const auto place = distance(i, j, o), key = static_cast<std::int64_t>(j);
    const bool inside =
        (!x.begins || key >= static_cast<std::int64_t>(x.begins[f])) &&
        (!x.lengths || key < static_cast<std::int64_t>(x.lengths[l]) + length_more(n));
    return inside && band_lowest(n) <= place && place <= band_highest(n);
  };
  // The offset of the relative bias of query i and key j, in the row that begins at t.
  const auto looked_up = [&](std::size_t i, std::size_t j, auto o, auto t) {
    const auto last = static_cast<std::int64_t>(of(axes.distance)) - 1;
    const auto index = std::clamp<std::int64_t>(distance(i, j, o) + relative_origin(n), 0, last);
    return t + static_cast<std::size_t>(index) * of_relative.stride(axes.distance);
  };
  const auto each_row = [&](std::size_t i, auto q, auto k, auto w, auto m, auto b, auto o, auto f,
                            auto l, auto t, auto c, auto u, auto r) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> weights(keys), slope(keys, n.scale), kept(keys, 1);
    std::vector<bool> sees(keys);  // other keys and values are not read, not even as 0 * NaN
    double greatest = -infinity, sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double s = 0;
      for (std::size_t d = 0; d < depth; ++d)
        s += x.query[q + d * of_query.stride(axes.depth)] *
             x.key[k + j * of_key.stride(axes.key) + d * of_key.stride(axes.depth)];
      s *= n.scale;
      if (const double cap = soft_cap_of(n); cap != 0) {
        const double t = std::tanh(s / cap);
        s = cap * t;
        slope[j] *= 1 - t * t;
      }
      const double bias = x.bias ? x.bias[b + j * of_bias.stride(axes.key)] : 0;
      const double relative = x.relative ? x.relative[looked_up(i, j, o, t)] : 0;
      s += bias + relative;
      sees[j] = seen(i, j, o, f, l) && (!x.mask || x.mask[m + j * of_mask.stride(axes.key)] != 0) &&
                bias != -infinity && relative != -infinity;
      weights[j] = s = sees[j] ? s : -infinity;
      greatest = functions::maximum(greatest, s);
      if (x.numbers)
        kept[j] = kept_share(g.nodes[find_operand(n, role::element_ids)], random,
                             x.numbers[u + j * of_numbers.stride(axes.key)]);
    }
    const bool hidden = std::isinf(greatest) && greatest < 0;
    if (x.sink) greatest = functions::maximum(greatest, x.sink[c]);
    for (double& s : weights) sum += s = hidden ? 0 : std::exp(s - greatest);
    const double of_the_sink = x.sink && !hidden ? std::exp(x.sink[c] - greatest) : 0;
    sum += of_the_sink;
    double inner = 0;  // delta: the sum of g * result
    for (std::size_t e = 0; e < width; ++e) {
      double y = 0;
      for (std::size_t j = 0; j < keys && !hidden; ++j)
        if (sees[j])
          y += kept[j] * weights[j] / sum *
               x.value[w + j * of_value.stride(axes.key) + e * of_value.stride(axes.value)];
      const std::size_t at = r + e * of_result.stride(axes.value);
      v.result[at] = y;
      if (x.g) inner += x.g[at] * y;
    }
    if (x.g && x.sink && !hidden) v.sink_gradient[c] -= of_the_sink / sum * inner;
    for (std::size_t j = 0; x.g && j < keys && !hidden; ++j) {
      if (!sees[j]) continue;
      const double weight = weights[j] / sum;
      double dw = 0;
      for (std::size_t e = 0; e < width; ++e) {
        const std::size_t at = w + j * of_value.stride(axes.key) + e * of_value.stride(axes.value);
        const double g_here = x.g[r + e * of_result.stride(axes.value)];
        dw += kept[j] * g_here * x.value[at];
        v.value_gradient[at] += kept[j] * weight * g_here;
      }
      const double dz = weight * (dw - inner), ds = dz * slope[j];
      if (x.bias) v.bias_gradient[b + j * of_bias.stride(axes.key)] += dz;
      if (x.relative) v.relative_gradient[looked_up(i, j, o, t)] += dz;
      for (std::size_t d = 0; d < depth; ++d) {
        const std::size_t at_query = q + d * of_query.stride(axes.depth);
        const std::size_t at_key = k + j * of_key.stride(axes.key) + d * of_key.stride(axes.depth);
        v.query_gradient[at_query] += ds * x.key[at_key];
        v.key_gradient[at_key] += ds * x.query[at_query];
      }
    }
  };
  const std::size_t queries = axes.query ? of(axes.query) : 1;
  const auto step = [&](const layout& l) { return axes.query ? l.stride(axes.query) : 0; };
  for_each(to_axes(axes.batch), of,
           {of_query, of_key, of_value, of_mask, of_bias, of_offset, of_begins, of_lengths,
            of_relative, of_sink, of_numbers, of_result},
           [&](auto q, auto k, auto w, auto m, auto b, auto o, auto f, auto l, auto t, auto c,
               auto u, auto r) {
             for (std::size_t i = 0; i < queries; ++i)
               each_row(i, q + i * step(of_query), k, w, m + i * step(of_mask),
                        b + i * step(of_bias), o, f + i * step(of_begins), l + i * step(of_lengths),
                        t + i * step(of_relative), c + i * step(of_sink), u + i * step(of_numbers),
                        r + i * step(of_result));
           });
  return v;
}

}  // namespace detail

}  // namespace weft::reference
