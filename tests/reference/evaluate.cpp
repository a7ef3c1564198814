#include "reference/evaluate.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "reference/elementwise.hpp"
#include "reference/operations.hpp"
#include "reference/rowwise.hpp"
#include "support/operands.hpp"
#include "weft/graph/graph.hpp"

namespace weft::reference {

namespace detail {
namespace {

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
    const node& ids = c.g.nodes[testing::operand_of(c.n, 1)];
    for_each(c.own, c.of, {c.result, c.of_x, c.of_y}, [&](auto i, auto x, auto id) {
      const double share = kept_share(ids, c.given.random, c.y[id]);
      c.r[i] = share == 0 ? 0 : share * c.x[x];  // NaN is dropped too
    });
  }
  static void rowwise_of_node(const computation& c) {
    const axes along = to_axes(row_axes(c.n));
    for_each(without(c.own, along), c.of, {c.result, c.of_x, c.of_y, c.of_z, c.layout_of(c.n, 3)},
             [&](auto i, auto x, auto y, auto z, auto w) {
               const std::size_t first[]{x, y, z, w};
               std::array<std::vector<double>, 4> rows;
               for (int o = 0; o < testing::operand_count(c.n); ++o) {
                 const auto at = static_cast<std::size_t>(o);
                 for_each(along, c.of, {c.layout_of(c.n, o)},
                          [&](auto j) { rows[at].push_back(c.data(c.n, o)[first[at] + j]); });
               }
               const std::vector<double> row = rowwise_with_others(c.n, std::move(rows));
               std::size_t next = 0;
               for_each(along, c.of, {c.result}, [&](auto j) { c.r[i + j] = row[next++]; });
             });
  }
};

class evaluation {
 public:
  evaluation(const graph& g, const lengths& of, const bindings& b) : now_{g, of, b, all_} {}

  std::vector<values> run(const observer& seen) {
    all_.resize(static_cast<std::size_t>(now_.g.count));
    for (int i = 0; i < now_.g.count;) {
      if (const int body = loop_of(now_.g, i); body > 0) {
        const int first = i;
        while (i < now_.g.count && loop_of(now_.g, i) == body) ++i;
        run_body(first, i, now_.g.regions[body - 1], seen);
      } else {
        of_node(i) = compute(now_.g.nodes[i]);
        if (seen) seen(i, all_);
        ++i;
      }
    }
    return std::move(all_);
  }

 private:
  values& of_node(int id) { return all_[static_cast<std::size_t>(id)]; }

  // Runs nodes [first, end), the body of a scan, once for each index of the region's axis.
  void run_body(int first, int end, const region& r, const observer& seen) {
    const auto each = [&](op kind, auto f) {
      for (int i = first; i < end; ++i)
        if (now_.g.nodes[i].kind == kind) f(i, now_.g.nodes[i]);
    };
    each(op::carry, [&](int i, const node& n) { of_node(i) = compute(n); });
    each(op::scan_collect,
         [&](int i, const node& n) { of_node(i).data.resize(now_.dense(n.axes).size()); });
    const std::size_t steps = now_.of(r.axis);
    for (std::size_t step = 0; step < steps; ++step) {
      now_.step = r.backwards ? steps - 1 - step : step;
      for (int i = first; i < end; ++i) {
        const node& n = now_.g.nodes[i];
        if (n.kind == op::scan_collect)
          write_step(n, of_node(i));
        else if (n.kind != op::carry)
          of_node(i) = compute(n);
        if (seen) seen(i, all_);
      }
      each(op::yield,
           [&](int i, const node& n) { of_node(testing::operand_of(n, 0)) = of_node(i); });
    }
  }
  void write_step(const node& n, values& whole) const {
    layout at = now_.dense(n.axes);
    const std::size_t first = now_.step * at.take(scanned_axis(n));
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

}  // namespace
}  // namespace detail

std::vector<values> evaluate(const graph& g, const lengths& given, const bindings& b,
                             const observer& seen) {
  const lengths all = complete(g, given);
  return detail::evaluation(g, all, b).run(seen);
}

}  // namespace weft::reference
