// Passes over scans: loop-invariant work leaves the loop, and nothing grows with its length but
// tensors that have the scanned axis.
#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::graph, weft::node, weft::op;

template <auto Length>
struct layer {
  struct Batch : weft::axis<4> {};
  struct Pos : weft::axis<Length> {};
  struct In : weft::axis<6> {};
  struct Hidden : weft::axis<16> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, In>();
    auto h = weft::nn::gru<Pos, In, Hidden>(s, x);
    return weft::results(weft::as<"last">(h.last),
                         weft::as<"loss">(weft::sum<Batch, Hidden>(h.last)));
  }
};

constexpr auto steps_of = [](const auto& tables) { return tables.instructions.size(); };
template <auto Length>
constexpr const auto& run_tables = weft::lowered<weft::inference<layer<Length>, "last">>::tables;
template <auto Length>
constexpr const auto& training_tables =
    weft::lowered<weft::training<layer<Length>, "loss">>::tables;

static_assert(steps_of(run_tables<3>) == steps_of(run_tables<300>));
static_assert(steps_of(run_tables<3>) == steps_of(run_tables<weft::up_to<300>>));
static_assert(steps_of(training_tables<3>) == steps_of(training_tables<300>));
static_assert(run_tables<300>.loops.size() == 1 && training_tables<300>.loops.size() == 2);
static_assert(!run_tables<300>.loops[0].backwards && training_tables<300>.loops[1].backwards);

// The reset gate, the update gate, the reset state, the new state, and its copy into the carry.
constexpr int of_loop(const weft::loop_ref& l) {
  return l.last - l.first;
}
static_assert(of_loop(run_tables<300>.loops[0]) <= 6);

// Besides the three projections of x [Batch, Pos, Hidden], a run keeps a few states.
constexpr std::size_t projections = 3 * 4 * 300 * 16 * 4, input = 4 * 300 * 6 * 4,
                      state = 4 * 16 * 4;
static_assert(weft::cost<layer<300>, "last">.workspace_bytes <=
              projections + input + 16 * state + run_tables<300>.scratch_bytes);
// The products with the weights of the hidden state take 2·3·Batch·Hidden² flops per step.
static_assert(weft::cost<layer<300>, "last">.flops >= 300.0 * 2 * 3 * 4 * 16 * (16 + 6));
static_assert(weft::cost<layer<300>, "last">.flops <= 1.1 * 300 * 2 * 3 * 4 * 16 * (16 + 6 + 2));

// Loop-invariant work that is written in the body.
struct invariant {
  struct Batch : weft::axis<4> {};
  struct Pos : weft::axis<5> {};
  struct In : weft::axis<6> {};
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Pos, Batch>();
    auto w = s.param<"w", In, Batch>();
    auto v = s.param<"v", In>();
    auto h0 = s.input<"h0", float, Batch>();
    auto h = scan<Pos>(h0, x, [&](auto h, auto x_t) {
      auto once = normalize<Batch>(dot<In>(w, v)) * 2;   // hoisted, with its factor
      return tanh(dot<In>(w, exp(v)) + h) + once * x_t;  // hoisted: the product
    });
    return h.all;
  }
};
constexpr int in_loop(const graph& g, op kind) {
  int n = 0;
  for (int i = 0; i < g.count; ++i) n += weft::loop_of(g, i) > 0 && g.nodes[i].kind == kind;
  return n;
}
constexpr graph fused() {
  return weft::inference<invariant>::g.unpack();
}
static_assert(in_loop(fused(), op::dot) == 0 && in_loop(fused(), op::exp) == 0);
static_assert(in_loop(fused(), op::normalize) == 0);
static_assert(in_loop(fused(), op::tanh) == 1 && in_loop(fused(), op::scan_collect) == 1);

// The gradients of weights are contractions after the loop, not in it.
constexpr bool weights_after_loop() {
  const graph g = weft::training<layer<300>, "loss">::g.unpack();
  int products = 0;
  for (int i = 0; i < g.count; ++i) {
    const bool backwards = weft::loop_of(g, i) > 0 && g.regions[weft::loop_of(g, i) - 1].backwards;
    products += backwards && g.nodes[i].kind == op::dot;
  }
  return products == 3;  // gradients of the hidden state from each gate
}
static_assert(weights_after_loop());

// Whether the nodes of each body are consecutive, its yields last.
constexpr bool together(const graph& g) {
  for (int i = 1; i < g.count; ++i) {
    const int body = weft::loop_of(g, i - 1);
    if (body == 0) continue;
    if (weft::loop_of(g, i) != body)
      for (int j = i; j < g.count; ++j)
        if (weft::loop_of(g, j) == body) return false;
    if (g.nodes[i - 1].kind == op::yield && weft::loop_of(g, i) == body &&
        g.nodes[i].kind != op::yield)
      return false;
  }
  return true;
}
static_assert(together(fused()) && together(weft::training<layer<300>, "loss">::g.unpack()));

// A carry that no result needs is dead code, with what computes it.
struct half_used {
  struct Pos : weft::axis<5> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos>();
    auto a0 = s.input<"a0", float>();
    auto r = weft::scan<Pos>(std::tuple{a0, a0}, x, [](auto a, auto b, auto x_t) {
      return weft::next(tanh(a) + x_t, exp(b));
    });
    return std::get<0>(r.last);
  }
};
constexpr graph half() {
  return weft::inference<half_used>::after("simplify");
}
static_assert(weft::testing::count(half(), op::carry) == 1);
static_assert(weft::testing::count(half(), op::exp) == 0);

}  // namespace

BOOST_AUTO_TEST_SUITE(scan_passes, *boost::unit_test::label("full"))

// The static assertions above, at run time.
BOOST_AUTO_TEST_CASE(a_carry_that_no_result_needs_is_eliminated_with_what_computes_it) {
  const auto g = weft::testing::kept(half);
  BOOST_TEST(weft::testing::count(*g, op::carry) == 1);
  BOOST_TEST(weft::testing::count(*g, op::exp) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
