// The semantics of a graph, as plainly as possible: an interpreter in double precision, at run
// time, one element at a time. The kernels and passes are tested against it; nothing else uses it.
// Integers and booleans are held as doubles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/lengths.hpp"
#include "reference/operations.hpp"
#include "reference/rowwise.hpp"
#include "reference/tensors.hpp"
#include "weft/graph/scan.hpp"

namespace weft::reference {

namespace detail {

struct compute_of_operation {
  template <op K>
  constexpr auto operator()() const -> void (*)(const computation&) {
    if constexpr (K == op::dropout) {
      return &dropout;
    } else if constexpr (is_elementwise(K)) {
      return [](const computation& c) {
        for_each(c.own, c.of, {c.result, c.of_x, c.of_y, c.of_z},
                 [&](auto i, auto x, auto y, auto z) {
                   c.r[i] = elementwise(c.n, c.x[x], c.y[y], c.z[z]);
                 });
      };
    } else if constexpr (is_rowwise(K)) {
      return &rowwise_of_node;
    } else {
      static_assert(
          requires { sizeof(computed<K>); },
          "reference: an operation has no computed<op::...> in operations.hpp");
      return [](const computation& c) { computed<K>{c}.run(); };
    }
  }
  static void dropout(const computation& c) {
    node const& ids = c.g.nodes[c.n.operand[1]];
    for_each(c.own, c.of, {c.result, c.of_x, c.of_y}, [&](auto i, auto x, auto id) {
      double const share = kept_share(ids, c.given.random, c.y[id]);
      c.r[i] = share == 0 ? 0 : share * c.x[x];  // NaN is dropped too
    });
  }
  static void rowwise_of_node(const computation& c) {
    axes const along = to_axes(row_axes(c.n));
    for_each(without(c.own, along), c.of, {c.result, c.of_x, c.of_y, c.of_z, c.layout_of(c.n, 3)},
             [&](auto i, auto x, auto y, auto z, auto w) {
               std::size_t const first[]{x, y, z, w};
               std::array<std::vector<double>, 4> rows;
               for (int o = 0; o < c.n.operands; ++o) {
                 auto const at = static_cast<std::size_t>(o);
                 for_each(along, c.of, {c.layout_of(c.n, o)},
                          [&](auto j) { rows[at].push_back(c.data(c.n, o)[first[at] + j]); });
               }
               std::vector<double> const row = rowwise_with_others(c.n, std::move(rows));
               std::size_t next = 0;
               for_each(along, c.of, {c.result}, [&](auto j) { c.r[i + j] = row[next++]; });
             });
  }
};

class evaluation {
 public:
  evaluation(const graph& g, const lengths& of, const bindings& b) : now_{g, of, b, all_} {}

  template <class Seen>
  std::vector<values> run(Seen seen) {
    all_.resize(static_cast<std::size_t>(now_.g.count));
    for (int i = 0; i < now_.g.count;) {
      if (int const body = loop_of(now_.g, i); body > 0) {
        int const first = i;
        while (i < now_.g.count && loop_of(now_.g, i) == body) ++i;
        run_body(first, i, now_.g.regions[body - 1], seen);
      } else {
        of_node(i) = compute(now_.g.nodes[i]);
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
        if (now_.g.nodes[i].kind == kind) f(i, now_.g.nodes[i]);
    };
    each(op::carry, [&](int i, const node& n) { of_node(i) = compute(n); });
    each(op::scan_collect,
         [&](int i, const node& n) { of_node(i).data.resize(now_.dense(n.axes).size()); });
    std::size_t const steps = now_.of(r.axis);
    for (std::size_t step = 0; step < steps; ++step) {
      now_.step = r.backwards ? steps - 1 - step : step;
      for (int i = first; i < end; ++i) {
        node const& n = now_.g.nodes[i];
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
    layout at = now_.dense(n.axes);
    std::size_t const first = now_.step * at.take(scanned_axis(n));
    for_each(to_axes(now_.axes_of(n, 0)), now_.of, {at, now_.layout_of(n, 0)},
             [&](auto i, auto a) { whole.data[first + i] = now_.data(n, 0)[a]; });
  }

  values compute(const node& n) const {
    static constexpr auto operations = table_of_operations(compute_of_operation());
    values v;
    operations[n.kind](computation(now_, n, v));
    return v;
  }

  std::vector<values> all_;
  evaluation_state now_;
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
