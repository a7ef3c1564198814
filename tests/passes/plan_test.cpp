// Memory plans, checked by brute force for every pair of nodes.
#include "weft/passes/plan.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "examples/char_lm/model.hpp"
#include "passes/graphs.hpp"
#include "support/live_ranges.hpp"
#include "support/operands.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::testing::kept, weft::testing::output_node;
using weft::testing::operand_count, weft::testing::operand_of;

struct Rows : weft::axis<17> {};
struct Columns : weft::axis<17> {};
struct Between : weft::axis<17> {};
struct Twice : weft::axis<34> {};

std::unique_ptr<const weft::memory_plan> planned(const weft::graph& g) {
  return std::unique_ptr<const weft::memory_plan>(new weft::memory_plan(weft::plan(g)));
}

// Whether node `id` may be computed in the buffer of operand j of node `by`, which its instruction
// reads. Only if the kernel reads each element before it writes that of the same index: the same
// axes with the same strides. `by` is `id`, or an operation of the fusion group that ends with it.
bool in_step(const weft::graph& g, const weft::memory_plan& p, int id, int by, int j) {
  const weft::node& n = g.nodes[id];
  const int operand = operand_of(g.nodes[by], j);
  if (!weft::reads_before_writing(g.nodes[by].kind, operand_count(g.nodes[by]), j)) return false;
  if (!(g.nodes[operand].axes == n.axes) || p.of[operand].offset != p.of[id].offset) return false;
  if (weft::bytes(g.nodes[operand].type) != weft::bytes(n.type)) return false;
  return std::equal(p.of[operand].stride, p.of[operand].stride + n.axes.count, p.of[id].stride);
}

// Checks that nodes with overlapping live ranges share no bytes, except for results in place.
void check_plan(const weft::graph& g) {
  const auto plan = planned(g);
  const auto& of = plan->of;
  const weft::testing::live_ranges ranges(g, *plan);
  const auto &computed_in = ranges.computed_in, &first = ranges.first, &last = ranges.last;
  const auto owns = [&](int i) {
    return of[i].root == i && of[i].where == weft::block::workspace && !g.nodes[i].fused;
  };
  const auto size = [&](int i) {
    return g.nodes[i].axes.extent() * static_cast<std::size_t>(weft::bytes(g.nodes[i].type));
  };
  int wrong = 0, pairs = 0;
  for (int j = 0; j < g.count; ++j) {
    if (!owns(j)) continue;
    const int from = first[static_cast<std::size_t>(j)];
    wrong += of[j].offset % 64 != 0 || of[j].offset + size(j) > plan->workspace_bytes;
    for (int i = 0; i < g.count; ++i) {
      if (!owns(i) || first[static_cast<std::size_t>(i)] >= from ||
          of[i].offset + size(i) <= of[j].offset || of[j].offset + size(j) <= of[i].offset)
        continue;
      ++pairs;
      const int until = last[static_cast<std::size_t>(i)];
      bool fine = until < from;
      if (until == from) {
        fine = from == j;
        for (int m = 0; m <= j; ++m)
          for (int k = 0; k < operand_count(g.nodes[m]); ++k)
            if (const int operand = operand_of(g.nodes[m], k);
                computed_in[static_cast<std::size_t>(m)] == j && of[operand].root == i)
              fine = fine && in_step(g, *plan, j, m, k);
      }
      if (!fine) {
        ++wrong;
        BOOST_TEST_MESSAGE("nodes " << i << " and " << j << " overlap");
      }
    }
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(pairs > 0, "memory is used again");
}

// The kernel writes x + h into the result's rows before it reads the gain and the bias, which are
// computed and have the result's axes: the result must not reuse the buffer of either.
template <bool Centred, bool ComputedBias>
struct normalized_sum {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto h = weft::tanh(s.input<"h", float, Rows, Columns>());
    auto gain = 1 - x;
    auto sum = x + h;
    auto bias = weft::where(weft::positions<Rows>() < 8, h * 0.5f, ComputedBias ? x : h);
    if constexpr (Centred) return weft::normalize<Columns>(sum) * gain + bias;
    return weft::rms_norm<Columns>(sum) * gain + bias;
  }
};

template <int Length>
struct chain {
  constexpr auto operator()(weft::scope s) const {
    auto x = exp(s.input<"x", float, Rows, Columns>());
    for (int i = 1; i < Length; ++i) x = tanh(x) * 0.5f;
    return x;
  }
};
constexpr std::size_t one_tensor = weft::align(17 * 17 * 4);
static_assert(weft::plan(weft::trace<chain<1>>()).workspace_bytes == one_tensor);
static_assert(weft::plan(weft::trace<chain<40>>()).workspace_bytes == one_tensor,
              "an elementwise chain is computed in place");
constexpr bool all_in_one_place() {
  const weft::graph g = weft::trace<chain<5>>();
  const weft::memory_plan p = weft::plan(g);
  for (int i = 0; i < g.count; ++i)
    if (p.of[i].where == weft::block::workspace && p.of[i].offset != 0) return false;
  return true;
}
static_assert(all_in_one_place());

// Operands that only a concatenation uses are computed in its buffer; those that are used
// elsewhere, or that follow one of run-time length, are copied.
struct put_together {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto y = s.input<"y", float, Some, Columns>();
    auto used = exp(x);
    auto all = weft::concatenate<Fourfold, weft::shape<Rows, Rows, Some, Rows>>(tanh(x), used,
                                                                                exp(y), sin(x));
    return weft::results(weft::as<"all">(all), weft::as<"used">(used));
  }
  struct Some : weft::axis<weft::up_to<17>> {};
  struct Fourfold : weft::axis<weft::up_to<4 * 17>> {};
};
constexpr bool parts_are_computed_in_place() {
  const weft::graph g = weft::trace<put_together>();
  const weft::memory_plan p = weft::plan(g);
  const int all = g.outputs[0].node;
  const weft::node& n = g.nodes[all];
  const auto in_place = [&](int j) { return p.of[operand_of(n, j)].root == all; };
  return in_place(0) && !in_place(1) && in_place(2) && !in_place(3) &&
         p.of[operand_of(n, 2)].offset == p.of[all].offset + 2 * 17 * 17 * 4;
}
static_assert(parts_are_computed_in_place());

// A result that is an operand too must not be overwritten.
struct two_results {
  constexpr auto operator()(weft::scope s) const {
    auto x = exp(s.input<"x", float, Rows, Columns>());
    auto y = tanh(x);
    auto z = softmax<Columns>(y);
    auto view = weft::slice<Rows, Few, 3>(z);
    return weft::results(weft::as<"x">(x), weft::as<"y">(y), weft::as<"view">(view),
                         weft::as<"last">(exp(weft::sin(z))));
  }
  struct Few : weft::axis<4> {};
};
constexpr bool results_lie_apart() {
  const weft::graph g = weft::trace<two_results>();
  const weft::memory_plan p = weft::plan(g);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j)
      if (p.of[p.of[g.outputs[i].node].root].offset == p.of[p.of[g.outputs[j].node].root].offset)
        return false;
  return true;
}
static_assert(results_lie_apart());

// Not in place: x is also read transposed, from the same buffer, so that writing an element of the
// sum would overwrite another one's operand.
struct symmetric {
  constexpr auto operator()(weft::scope s) const {
    using weft::rename;
    auto x = exp(s.input<"x", float, Rows, Columns>());
    auto turned = rename<Between, Columns>(rename<Columns, Rows>(rename<Rows, Between>(x)));
    return tanh(x + turned);
  }
};

// All kinds of views of buffers that are reused later, and buffers that are freed in pieces.
struct mixed {
  constexpr auto operator()(weft::scope s) const {
    using weft::rename, weft::slice;
    auto x = exp(s.input<"x", float, Rows, Columns>());
    auto p = s.param<"p", Columns, Rows>();
    auto half = slice<Rows, Half, 9>(x);
    auto joined = weft::concatenate<Twice, weft::shape<Rows, Rows>>(x, tanh(x + p));
    auto flags = x < p;
    auto y = where(flags, x, p) * 2;
    auto z = rename<Columns, Between>(y) + rename<Columns, Between>(exp(x));
    return weft::results(weft::as<"a">(exp(half)), weft::as<"b">(softmax<Twice>(joined * 2)),
                         weft::as<"c">(z), weft::as<"loss">(weft::mean<Rows, Columns>(y)),
                         weft::as<"d">(weft::cast<float>(!flags)));
  }
  struct Half : weft::axis<8> {};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(planning)

BOOST_AUTO_TEST_CASE(a_normalized_sum_does_not_overwrite_its_computed_gain_and_bias) {
  using weft::inference, weft::testing::trial;
  trial<inference<normalized_sum<true, true>>>();
  trial<inference<normalized_sum<true, false>>>();
  trial<inference<normalized_sum<false, true>>>();
  trial<inference<normalized_sum<false, false>>>();
}

BOOST_AUTO_TEST_CASE(nodes_with_overlapping_live_ranges_have_disjoint_memory) {
  check_plan(*kept(weft::trace<chain<5>>));
  check_plan(*kept(weft::trace<two_results>));
  check_plan(*kept(weft::trace<mixed>));
  check_plan(*kept([] { return weft::training<mixed, "loss">::g.unpack(); }));
}

BOOST_AUTO_TEST_CASE(live_nodes_of_a_transformer_and_its_gradients_have_disjoint_memory) {
  check_plan(*kept([] { return weft::inference<char_lm::model<2>>::g.unpack(); }));
  check_plan(*kept([] { return weft::training<char_lm::model<2>, "loss">::g.unpack(); }));
}

BOOST_AUTO_TEST_CASE(a_sum_with_its_own_transpose_is_not_computed_in_place) {
  const auto g = kept(weft::trace<symmetric>);
  const auto p = planned(*g);
  for (int i = 0; i < g->count; ++i)
    if (g->nodes[i].kind == op::add)
      BOOST_TEST(p->of[i].offset != p->of[operand_of(g->nodes[i], 0)].offset);
  check_plan(*g);
  weft::testing::trial<weft::inference<symmetric>>();
}

BOOST_AUTO_TEST_CASE(concatenations_of_operands_computed_in_place_match_the_reference) {
  for (const int some : {0, 1, 5, 17})
    weft::testing::trial<weft::inference<put_together>>(
        weft::testing::lengths<put_together::Some>(some));
}

BOOST_AUTO_TEST_CASE(results_are_not_overwritten_before_the_run_ends) {
  weft::testing::trial<weft::inference<two_results>>();
  weft::testing::trial<weft::inference<mixed>>();
  weft::testing::trial<weft::training<mixed, "loss">>();
}

BOOST_AUTO_TEST_CASE(parameters_are_aligned_and_most_gradients_have_their_offsets) {
  const auto g = kept([] { return weft::training<char_lm::model<2>, "loss">::g.unpack(); });
  const auto p = planned(*g);
  std::size_t end = 0;
  for (int i = 0; i < g->parameter_count; ++i) {
    BOOST_TEST(p->parameter_offset[i] % 64 == 0u);
    BOOST_TEST(p->parameter_offset[i] >= end, "one after another");
    end = p->parameter_offset[i] + 4 * g->nodes[g->parameters[i].node].axes.extent();
  }
  BOOST_TEST(end <= p->parameter_bytes);
  BOOST_TEST(p->parameter_bytes < end + 64);
  int in_place = 0;
  for (int i = 0; i < g->output_count; ++i) {
    const weft::output& o = g->outputs[i];
    if (o.kind != weft::output_kind::gradient) continue;
    const auto& at = p->of[o.node];
    in_place += at.where == weft::block::gradients && at.offset == p->parameter_offset[o.leaf];
  }
  BOOST_TEST(in_place > g->parameter_count / 2, "gradients are computed where they belong");
}

BOOST_AUTO_TEST_SUITE_END()
