// Attention and its gradients, one query at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/tensors.hpp"
#include "weft/graph/attention.hpp"

namespace weft::reference {

namespace detail {

// One of something for each slot of attention's adjoint, by role.
template <class T>
struct by_slot {
  T of[attention_adjoint_slots.size()]{};
  T& operator[](role what) { return of[static_cast<std::size_t>(attention_slot(what))]; }
  const T& operator[](role what) const {
    return of[static_cast<std::size_t>(attention_slot(what))];
  }
};

using offsets = by_slot<std::size_t>;

// The results of attention and its adjoint, as defined in kernels/attention.hpp.
struct attention_values {
  std::vector<double> result;
  by_slot<std::vector<double>> gradient_for;  // an operand
};

static_assert(handles_gradients_of_attention({role::query, role::key, role::value, role::bias,
                                              role::relative, role::sink}),
              "reference: attention has no gradient for an operand");
static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "reference: an operand of attention is not read by reference/attention.hpp");
// data(id) gives the elements of a node, dense over its axes with the lengths of the run.
template <class Data>
attention_values attention(const graph& g, const node& n, const lengths& of, Data data,
                           const kernels::random_state& random) {
  const attention_axes axes = attention_axes_of(g, n);
  by_slot<const double*> x;
  by_slot<layout> in;
  for (const slot& s : attention_adjoint_slots)
    if (const int id = find_operand(n, s.what); id >= 0) {
      x[s.what] = data(id);
      in[s.what] = layout(g.nodes[id].axes, of);
    }
  if (n.kind == op::attention) in[role::result] = layout(n.axes, of);
  const std::size_t keys = of(axes.key), depth = of(axes.depth), width = of(axes.value);
  attention_values v;
  v.result.resize(in[role::result].size());
  for (const slot& s : attention_adjoint_slots)
    if (is_gradient(s)) v.gradient_for[s.gradient_of].resize(in[s.gradient_of].size());
  const auto number = [&](role what, const offsets& at) {
    return x[what] ? static_cast<std::int64_t>(x[what][at[what]]) : 0;
  };
  // The position of key j relative to query i.
  const auto distance = [&](std::size_t i, std::size_t j, const offsets& at) {
    return static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i) - number(role::offset, at);
  };
  const auto seen = [&](std::size_t i, std::size_t j, const offsets& at) {
    const auto place = distance(i, j, at), key = static_cast<std::int64_t>(j);
    const bool inside = (!x[role::begins] || key >= number(role::begins, at)) &&
                        (!x[role::lengths] || key < number(role::lengths, at) + length_more(n));
    return inside && band_lowest(n) <= place && place <= band_highest(n);
  };
  // The offset of an operand that has keys, or distances, at key j.
  const auto at_key = [&](role what, std::size_t i, std::size_t j, const offsets& at) {
    if (what != role::relative) return at[what] + j * in[what].stride(axes.key);
    const auto last = static_cast<std::int64_t>(of(axes.distance)) - 1;
    const auto index = std::clamp<std::int64_t>(distance(i, j, at) + relative_origin(n), 0, last);
    return at[what] + static_cast<std::size_t>(index) * in[what].stride(axes.distance);
  };
  const std::size_t depth_of_query = in[role::query].stride(axes.depth),
                    depth_of_key = in[role::key].stride(axes.depth),
                    step_of_value = in[role::value].stride(axes.value),
                    step_of_g = in[role::g].stride(axes.value),
                    step_of_result = in[role::result].stride(axes.value);
  // Query i, whose elements are from these offsets on.
  const auto each_row = [&](std::size_t i, const offsets& at) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // Without an operand, what leaves the score as it is.
    const auto element = [&](role what, std::size_t j, double otherwise) {
      return x[what] ? x[what][at_key(what, i, j, at)] : otherwise;
    };
    std::vector<double> weights(keys), slope(keys, n.scale), kept(keys, 1);
    std::vector<bool> sees(keys);  // other keys and values are not read, not even as 0 * NaN
    double greatest = -infinity, sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double s = 0;
      for (std::size_t d = 0; d < depth; ++d)
        s += x[role::query][at[role::query] + d * depth_of_query] *
             x[role::key][at_key(role::key, i, j, at) + d * depth_of_key];
      s *= n.scale;
      if (const double cap = soft_cap_of(n); cap != 0) {
        const double t = std::tanh(s / cap);
        s = cap * t;
        slope[j] *= 1 - t * t;
      }
      const double bias = element(role::bias, j, 0), relative = element(role::relative, j, 0);
      s += bias + relative;
      sees[j] = seen(i, j, at) && element(role::mask, j, 1) != 0 && bias != -infinity &&
                relative != -infinity;
      weights[j] = s = sees[j] ? s : -infinity;
      greatest = functions::maximum(greatest, s);
      if (x[role::element_ids])
        kept[j] = kept_share(g.nodes[find_operand(n, role::element_ids)], random,
                             element(role::element_ids, j, 0));
    }
    const bool hidden = std::isinf(greatest) && greatest < 0;
    const double sink = x[role::sink] ? x[role::sink][at[role::sink]] : -infinity;
    greatest = functions::maximum(greatest, sink);
    for (double& s : weights) sum += s = hidden ? 0 : std::exp(s - greatest);
    const double of_the_sink = x[role::sink] && !hidden ? std::exp(sink - greatest) : 0;
    sum += of_the_sink;
    double inner = 0;  // delta: the sum of g * result
    for (std::size_t e = 0; e < width; ++e) {
      double y = 0;
      for (std::size_t j = 0; j < keys && !hidden; ++j)
        if (sees[j])
          y += kept[j] * weights[j] / sum *
               x[role::value][at_key(role::value, i, j, at) + e * step_of_value];
      v.result[at[role::result] + e * step_of_result] = y;
      if (x[role::g]) inner += x[role::g][at[role::g] + e * step_of_g] * y;
    }
    if (!x[role::g] || hidden) return;
    auto& to = v.gradient_for;
    if (x[role::sink]) to[role::sink][at[role::sink]] -= of_the_sink / sum * inner;
    for (std::size_t j = 0; j < keys; ++j) {
      if (!sees[j]) continue;
      const double weight = weights[j] / sum;
      double dw = 0;
      for (std::size_t e = 0; e < width; ++e) {
        const std::size_t at_value = at_key(role::value, i, j, at) + e * step_of_value;
        const double g_here = x[role::g][at[role::g] + e * step_of_g];
        dw += kept[j] * g_here * x[role::value][at_value];
        to[role::value][at_value] += kept[j] * weight * g_here;
      }
      const double dz = weight * (dw - inner), ds = dz * slope[j];
      for (const role what : {role::bias, role::relative})
        if (x[what]) to[what][at_key(what, i, j, at)] += dz;
      for (std::size_t d = 0; d < depth; ++d) {
        const std::size_t at_query = at[role::query] + d * depth_of_query,
                          of_key = at_key(role::key, i, j, at) + d * depth_of_key;
        to[role::query][at_query] += ds * x[role::key][of_key];
        to[role::key][of_key] += ds * x[role::query][at_query];
      }
    }
  };
  for_each(to_axes(axes.batch), of, in.of, [&](auto... first) {
    for (std::size_t i = 0; i < (axes.query ? of(axes.query) : 1); ++i) {
      offsets at{{first...}};
      for (std::size_t s = 0; axes.query && s < std::size(at.of); ++s)
        at.of[s] += i * in.of[s].stride(axes.query);
      each_row(i, at);
    }
  });
  return v;
}

}  // namespace detail

}  // namespace weft::reference
