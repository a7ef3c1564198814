// Expensive values that no run can change are computed once, all others in every run.
#include "weft/passes/hoist.hpp"

#include <boost/mpl/list.hpp>
#include <boost/mpl/list_c.hpp>
#include <boost/test/unit_test.hpp>

#include "passes/graphs.hpp"
#include "support/axes.hpp"
#include "support/operands.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::testing::count, weft::testing::lengths, weft::testing::trial;
using weft::testing::graph_of, weft::testing::Two, weft::testing::Three, weft::testing::Six;

struct Pos : weft::axis<weft::up_to<17>> {};
struct KeyPos : weft::alias<Pos> {};
struct Twice : weft::axis<weft::up_to<34>> {};
struct Later : weft::axis<weft::up_to<16>> {};
struct Window : weft::axis<3> {};
struct Starts : weft::axis<weft::up_to<15>> {};
struct Nine : weft::axis<9> {};
struct Heads : weft::axis<3> {};
struct HeadDim : weft::axis<6> {};

// The number of operations of a kind that are executed once, or in every run.
constexpr int count_if_once(const weft::graph& g, op kind, bool once) {
  int n = 0;
  for (int i = 0; i < g.count; ++i) n += g.nodes[i].kind == kind && g.nodes[i].once == once;
  return n;
}
constexpr int once(const weft::graph& g, op kind) {
  return count_if_once(g, kind, true);
}
constexpr int in_runs(const weft::graph& g, op kind) {
  return count_if_once(g, kind, false);
}
// Checks how many operations of a kind are executed once, and in every run.
void executes(const weft::graph& g, op kind, int before_runs, int in_every_run) {
  BOOST_TEST(once(g, kind) == before_runs, kind << " once: " << once(g, kind));
  BOOST_TEST(in_runs(g, kind) == in_every_run, kind << " in every run: " << in_runs(g, kind));
}
template <class Model>
constexpr bool hoists_nothing() {
  const auto& tables = weft::lowered<weft::inference<Model>>::tables;
  return tables.once == 0 && tables.once_bytes == 0 && weft::cost<Model>.once.flops == 0;
}

// 0, 1, 2, … as float, along an axis.
template <class A>
constexpr auto places() {
  return weft::cast<float>(weft::positions<A>());
}

// ---- what is hoisted

struct sinusoids {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Pos, Six>() + weft::nn::sinusoidal<Six>(weft::positions<Pos>());
  }
};
// A run executes only the addition.
static_assert(weft::cost<sinusoids>.operations == 1);
static_assert(weft::cost<sinusoids>.flops == 17 * 6);
static_assert(weft::cost<sinusoids>.bytes == 3 * 4 * 17 * 6);
static_assert(weft::cost<sinusoids>.sequential == 1);
static_assert(weft::cost<sinusoids>.once.flops > 2 * 17 * 3);
static_assert(weft::cost<sinusoids>.once_bytes == weft::align(4 * 17 * 6));

struct rotated {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.input<"q", float, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, KeyPos, Heads, HeadDim>();
    namespace nn = weft::nn;
    const nn::rotary_options yarn{10000, nn::yarn_scaling({.factor = 4, .trained = 8})};
    return weft::results(weft::as<"q">(nn::rotary<HeadDim>(q, weft::positions<Pos>())),
                         weft::as<"k">(nn::rotary<HeadDim, nn::rotary_pairs::interleaved>(
                             k, weft::positions<KeyPos>())),
                         weft::as<"yarn">(nn::rotary<HeadDim>(q, weft::positions<Pos>(), yarn)));
  }
};

// With a cache, positions start at an input: only the frequencies are run-invariant.
struct rotated_from {
  constexpr auto operator()(weft::scope s) const {
    const auto q = s.input<"q", float, Pos, Heads, HeadDim>();
    const auto at = weft::positions<Pos>() + s.input<"begin", std::int32_t>();
    return weft::nn::rotary<HeadDim>(q, at);
  }
};

// Operations along axes of fixed extents, and a result that is run-invariant.
struct of_known_extents {
  constexpr auto operator()(weft::scope s) const {
    const auto waves =
        weft::sin(places<Six>() + weft::broadcast<Three>(places<Six>() * 0.5f) + places<Three>());
    const auto mixed = weft::dot<Six>(weft::softmax<Six>(waves), places<Six>());
    const auto picked = weft::gather<Six>(waves, weft::positions<Two>() + 1);
    const auto table = weft::sum<Two>(picked) * weft::normalize<Three>(mixed, {.epsilon = 1e-5});
    return weft::results(weft::as<"table">(table),
                         weft::as<"sum">(s.input<"x", float, Pos, Three>() + table));
  }
};
static_assert(weft::cost<of_known_extents>.operations == 1);
static_assert(weft::cost<of_known_extents, "table">.operations == 0);

// A hoisted operand of a concatenation is not computed in its buffer, which every run reuses.
struct put_together {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, Three>();
    const auto table = weft::sin(places<Pos>() + places<Six>());
    return weft::concatenate<Nine, weft::shape<Six, Three>>(table, x);
  }
};
static_assert(weft::cost<put_together>.once_bytes == weft::align(4 * 17 * 6));

// A cheap value that runs and hoisted nodes both need is computed by each.
struct both_need_distances {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, KeyPos>();
    const auto distance = weft::cast<float>(weft::positions<KeyPos>() - weft::positions<Pos>());
    return x * distance + weft::sin(distance * 0.5f);
  }
};
static_assert(weft::cost<both_need_distances>.once_bytes == weft::align(4 * 17 * 17));

// Hoisting the angles of rotary embeddings does not keep attention from turning a mask into a band.
struct attending {
  constexpr auto operator()(weft::scope s) const {
    const auto q = s.input<"q", float, Pos, Heads, HeadDim>();
    const auto k = s.input<"k", float, KeyPos, Heads, HeadDim>();
    const auto v = s.input<"v", float, KeyPos, Heads, HeadDim>();
    const auto turned = weft::nn::rotary<HeadDim>(k, weft::positions<KeyPos>());
    const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(
        weft::nn::rotary<HeadDim>(q, weft::positions<Pos>()), turned,
        weft::nn::causal<Pos, KeyPos>());
    return weft::dot<KeyPos>(weights, v);
  }
};

// A learned bias for each distance of two positions along A and B.
template <class A, class B>
struct bias_of_distance {
  constexpr auto operator()(weft::scope s) const {
    const auto table = s.param<"table", Nine, Heads>();
    const auto distance = weft::positions<A>() - weft::positions<B>();
    const auto at = weft::minimum(weft::maximum(distance, -4), 4) + 4;
    return weft::gather<Nine>(table, at) * s.input<"x", float, A, B>();
  }
};
using window = bias_of_distance<Window, HeadDim>;
using along_a_window = bias_of_distance<Pos, Window>;
using along_two = bias_of_distance<Pos, KeyPos>;

// ---- what is not hoisted

// Recomputing masks and simple formulas is as cheap as loading them.
struct cheap {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, KeyPos>();
    const auto seen = weft::positions<KeyPos>() <= weft::positions<Pos>();
    const auto distance = weft::cast<float>(weft::positions<KeyPos>() - weft::positions<Pos>());
    return weft::where(seen, x + weft::relu(distance) * 0.5f, 0.f);
  }
};
static_assert(hoists_nothing<cheap>());

// Slopes are hoisted, but not their broadcast.
struct slopes_by_distance {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Heads, Pos, KeyPos>();
    const auto distance = weft::cast<float>(weft::positions<KeyPos>() - weft::positions<Pos>());
    return x + (distance * weft::exp(places<Heads>()) + 1.f);
  }
};
static_assert(weft::cost<slopes_by_distance>.once_bytes == weft::align(4 * 3));
struct spread {
  constexpr auto operator()(weft::scope s) const {
    const auto table = weft::broadcast<Heads>(weft::sin(places<Pos>()));
    return s.input<"x", float, Heads, Pos>() + table;
  }
};
static_assert(weft::cost<spread>.once_bytes == weft::align(4 * 17));

template <op Leaf>
struct of_leaf {
  constexpr auto operator()(weft::scope s) const {
    if constexpr (Leaf == op::input) return weft::sin(s.input<"x", float, Six>());
    if constexpr (Leaf == op::parameter) return weft::sin(s.param<"w", Six>());
    if constexpr (Leaf == op::state) {
      const auto state = s.state<"state", float, Six>();
      const auto next = weft::sin(state + places<Six>());
      s.update(state, next);
      return next;
    }
    // A length depends on a run's arguments.
    if constexpr (Leaf == op::length)
      return weft::sin(s.input<"x", float, Pos>() * 0.f + places<Pos>() / weft::length<Pos>());
  }
};
static_assert(hoists_nothing<of_leaf<op::input>>());
static_assert(hoists_nothing<of_leaf<op::parameter>>());
static_assert(hoists_nothing<of_leaf<op::state>>());
static_assert(hoists_nothing<of_leaf<op::length>>());

// Every run drops other elements.
struct dropped {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos>();
    return x +
           weft::exp(weft::dropout(weft::nn::detail::attach_to(x, weft::sin(places<Pos>())), 0.5));
  }
};
static_assert(weft::cost<dropped>.operations == 1);  // without dropout exp is hoisted too

// The carry of a scan changes in every step; the table and the initial carry are hoisted.
struct scanned {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos>();
    const auto table = weft::sin(places<Pos>());
    const auto begin = weft::cos(weft::constant(0.25f));
    const auto h = weft::scan<Pos>(begin, std::tuple{table, x},
                                   [](auto h, auto t, auto x) { return weft::tanh(h) * t + x; });
    return h.all;
  }
};

// Operations along an axis of run-time length, on a table that is hoisted.
template <op Kind>
struct along {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos>();
    const auto table = weft::sin(places<Pos>() * 0.5f + 0.25f);
    if constexpr (Kind == op::sum) return x + weft::sum<Pos>(table);
    if constexpr (Kind == op::max) return x + weft::max<Pos>(table);
    if constexpr (Kind == op::softmax) return x + weft::softmax<Pos>(table);
    if constexpr (Kind == op::normalize) return x + weft::normalize<Pos>(table, {.epsilon = 1e-5});
    if constexpr (Kind == op::dot) return x + weft::dot<Pos>(table, places<Pos>() * places<Six>());
    if constexpr (Kind == op::gather)
      return x + weft::gather<KeyPos>(weft::rename<Pos, KeyPos>(table), weft::positions<Pos>() + 1);
    if constexpr (Kind == op::concatenate)
      return weft::results(
          weft::as<"x">(x),
          weft::as<"y">(weft::concatenate<Twice, weft::shape<Pos, Pos>>(table, table)));
    if constexpr (Kind == op::slice)
      return weft::results(weft::as<"x">(x), weft::as<"y">(weft::slice<Pos, Later, 1>(table)));
    if constexpr (Kind == op::unfold)
      return weft::results(weft::as<"x">(x),
                           weft::as<"y">(weft::windows<Pos, Starts, Window>(table) * 2.f));
    if constexpr (Kind == op::pad)
      return weft::results(
          weft::as<"x">(x),
          weft::as<"y">(weft::windows<Pos, Pos, Window, weft::window{.left = 2}>(table) * 2.f));
  }
};
using kinds_that_mix =
    boost::mpl::list_c<int, static_cast<int>(op::sum), static_cast<int>(op::max),
                       static_cast<int>(op::softmax), static_cast<int>(op::normalize),
                       static_cast<int>(op::dot), static_cast<int>(op::gather),
                       static_cast<int>(op::concatenate), static_cast<int>(op::slice),
                       static_cast<int>(op::unfold), static_cast<int>(op::pad)>;

// Sinusoids in a loss are hoisted from its gradients too; both encodings share their angles.
struct trained {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    const auto x =
        s.input<"x", float, Pos, HeadDim>() + nn::sinusoidal<HeadDim>(weft::positions<Pos>());
    const auto y = nn::rotary<HeadDim>(x * s.param<"w", HeadDim>(), weft::positions<Pos>());
    return weft::results(weft::as<"loss">(weft::mean<Pos, HeadDim>(weft::tanh(y))));
  }
};

// A run-invariant gradient: that of a loss linear in a parameter.
struct linear_loss {
  constexpr auto operator()(weft::scope s) const {
    const auto w = s.param<"w", Pos>();
    const auto x = s.input<"x", float, Pos>();
    const auto sines = weft::sin(places<Pos>() * 0.5f);
    return weft::results(weft::as<"loss">(weft::sum<Pos>(w * sines + x)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hoist, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(expensive_run_invariant_values_are_computed_once) {
  using weft::inference;
  const auto& waves = graph_of<inference<sinusoids>>();
  executes(waves, op::sin, 1, 0);
  executes(waves, op::cos, 1, 0);
  BOOST_TEST(in_runs(waves, op::concatenate) == 0);
  BOOST_TEST(in_runs(waves, op::positions) == 0);
  for (const op o : {op::sin, op::cos, op::exp}) {
    BOOST_TEST(once(graph_of<inference<rotated>>(), o) > 0, o);
    BOOST_TEST(in_runs(graph_of<inference<rotated>>(), o) == 0, o);
  }
  executes(graph_of<inference<rotated_from>>(), op::exp, 2, 0);
  executes(graph_of<inference<rotated_from>>(), op::sin, 0, 1);
  for (const op o : {op::softmax, op::dot, op::gather, op::sum, op::normalize})
    executes(graph_of<inference<of_known_extents>>(), o, 1, 0);
  executes(graph_of<inference<both_need_distances>>(), op::subtract, 1, 1);
  BOOST_TEST(once(graph_of<inference<both_need_distances>>(), op::sin) == 1);
  const weft::node& n = weft::testing::first_node(graph_of<inference<attending>>(), op::attention);
  BOOST_TEST(n.kind == op::attention);
  BOOST_TEST(weft::band_highest(n) == 0);
  BOOST_TEST(weft::testing::has_optional(n));
  BOOST_TEST(once(graph_of<inference<slopes_by_distance>>(), op::exp) == 1);
  BOOST_TEST(once(graph_of<inference<slopes_by_distance>>(), op::multiply) == 0);
  executes(graph_of<inference<scanned>>(), op::sin, 1, 0);
  executes(graph_of<inference<scanned>>(), op::cos, 1, 0);
  executes(graph_of<inference<window>>(), op::maximum, 1, 0);
  executes(graph_of<inference<along_a_window>>(), op::maximum, 1, 0);
  executes(graph_of<inference<along_two>>(), op::maximum, 0, 1);
}

BOOST_AUTO_TEST_CASE(values_that_a_run_can_change_are_computed_in_every_run) {
  using weft::inference;
  const auto& drops = graph_of<weft::sampling<dropped>>();
  executes(drops, op::sin, 1, 0);
  executes(drops, op::exp, 0, 1);
  BOOST_TEST(in_runs(drops, op::dropout) == 1);
  executes(graph_of<inference<scanned>>(), op::tanh, 0, 1);
  const auto& trains = graph_of<weft::training<trained, "loss">>();
  executes(trains, op::sin, 1, 0);
  executes(trains, op::cos, 1, 0);
  BOOST_TEST(in_runs(trains, op::tanh) == 1);
  executes(graph_of<inference<of_leaf<op::input>>>(), op::sin, 0, 1);
  executes(graph_of<inference<of_leaf<op::parameter>>>(), op::sin, 0, 1);
  executes(graph_of<inference<of_leaf<op::state>>>(), op::sin, 0, 1);
  executes(graph_of<inference<of_leaf<op::length>>>(), op::sin, 0, 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_along_a_run_time_length_are_not_hoisted, Kind,
                              kinds_that_mix) {
  constexpr op kind = static_cast<op>(Kind::value);
  executes(graph_of<weft::inference<along<kind>>>(), op::sin, 1, 0);
  executes(graph_of<weft::inference<along<kind>>>(), kind, 0, 1);
  for (const std::size_t n : {2u, 3u, 17u}) trial<weft::inference<along<kind>>>(lengths<Pos>(n));
}

using models = boost::mpl::list<sinusoids, put_together, rotated, attending, both_need_distances,
                                cheap, slopes_by_distance, window, along_a_window, along_two,
                                spread, of_leaf<op::length>, scanned, of_known_extents>;
BOOST_AUTO_TEST_CASE_TEMPLATE(results_match_the_reference_at_every_length, Model, models) {
  for (const std::size_t n : {0u, 1u, 3u, 17u}) {
    auto s = lengths<Pos>(n);
    for (const auto* name : {"q", "k"}) s.ranges[name] = {-0.5, 0.5};
    trial<weft::inference<Model>>(s);
  }
}

BOOST_AUTO_TEST_CASE(rotary_embeddings_with_hoisted_frequencies_match_the_reference) {
  auto s = lengths<Pos>(5);
  s.ranges["begin"] = {3, 4};
  trial<weft::inference<rotated_from>>(s);
}

BOOST_AUTO_TEST_CASE(dropout_of_a_hoisted_value_matches_the_reference) {
  auto s = lengths<Pos>(13);
  s.random = {7, 1};
  trial<weft::sampling<dropped>>(s);
}

BOOST_AUTO_TEST_CASE(gradients_match_the_reference) {
  for (const std::size_t n : {0u, 1u, 3u, 17u})
    trial<weft::training<trained, "loss">>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_CASE(a_run_invariant_gradient_is_hoisted_to_the_workspace_and_copied_out) {
  const auto& tables = weft::lowered<weft::training<linear_loss, "loss">>::tables;
  BOOST_TEST(tables.once > 0);
  for (int i = 0; i < tables.once; ++i)
    BOOST_TEST((operands_of(tables, tables.instructions[i])->where == weft::block::workspace));
  for (const std::size_t n : {0u, 1u, 3u, 17u})
    trial<weft::training<linear_loss, "loss">>(lengths<Pos>(n));
}

BOOST_AUTO_TEST_SUITE_END()
