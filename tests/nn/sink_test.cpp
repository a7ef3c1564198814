// Softmax with a sink, alone and in attention, against its definition.
#include "weft/nn/sink.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Batch : axis<2> {};
struct Pos : axis<up_to<40>> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<12> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};

struct weights_alone {
  constexpr auto operator()(scope s) const {
    auto scores = s.input<"scores", float, Batch, KeyPos>();
    return results(
        as<"weights">(nn::softmax_with_sink<KeyPos>(scores, s.input<"sink", float, Batch>())));
  }
};

// A learned sink for each head, for all, or computed for each query.
enum class sink_of { heads, all, queries };
template <sink_of Of>
struct causal_attention {
  constexpr auto operator()(scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto project = [&](scope at) { return nn::linear<Embed, shape<Heads, HeadDim>>(at, x); };
    auto q = project(s / "q");
    auto k = rename<Pos, KeyPos>(project(s / "k"));
    auto v = rename<Pos, KeyPos>(project(s / "v"));
    auto scores = where(nn::causal<Pos, KeyPos>(), nn::dot_product_score<HeadDim>(q, k), -infinity);
    auto sink = [&] {
      if constexpr (Of == sink_of::heads)
        return s.param<"sink", Heads>(init::normal(0, 1));
      else if constexpr (Of == sink_of::all)
        return s.param<"sink">(init::ones());
      else
        return nn::linear<Embed, shape<>>(s / "sink", x);
    }();
    auto weights = nn::softmax_with_sink<KeyPos>(scores, sink);
    auto y = dot<KeyPos>(weights, v);
    return results(as<"y">(y), as<"weights">(weights),
                   as<"loss">(sum<Batch, Pos, Heads, HeadDim>(y * y)));
  }
};

struct zero_key {
  constexpr auto operator()(scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    return results(as<"y">(
        nn::self_attention<axes>(s, x, nn::causal<Pos, KeyPos>(), {.zero_key = true}).output));
  }
};

template <class Model>
constexpr bool is_fused_with_sink() {
  const graph g = inference<Model, "y">::make();
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::attention) return has(g.nodes[i], role::sink);
  return false;
}
static_assert(is_fused_with_sink<causal_attention<sink_of::heads>>());
static_assert(is_fused_with_sink<causal_attention<sink_of::all>>());
static_assert(is_fused_with_sink<causal_attention<sink_of::queries>>());
static_assert(is_fused_with_sink<zero_key>());

}  // namespace

BOOST_AUTO_TEST_SUITE(sink)

BOOST_AUTO_TEST_CASE(weights_are_those_of_a_softmax_with_one_more_score) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> scores{0.5f,      -1,        2,         -infinity,
                                  -infinity, -infinity, -infinity, -infinity};
  const std::vector<float> sinks{1, 2};
  module<weights_alone> net({.seed = 1});
  const auto all = net(arg<"scores">(scores), arg<"sink">(sinks));
  const auto weights = all.get<"weights">();
  for (std::size_t b = 0; b < 2; ++b) {
    double total = std::exp(sinks[b]);
    for (std::size_t j = 0; j < 4; ++j) total += std::exp(double{scores[4 * b + j]});
    for (std::size_t j = 0; j < 4; ++j)
      BOOST_TEST(std::abs(weights.at<Batch>(b)(j) - std::exp(double{scores[4 * b + j]}) / total) <
                 4 * 0x1p-23);
  }
}

// Where its weights are a result, attention is not fused.
BOOST_AUTO_TEST_CASE(fused_attention_with_a_sink_is_what_its_operations_compute_one_by_one) {
  module<causal_attention<sink_of::heads>, "y"> fused({.seed = 5});
  module<causal_attention<sink_of::heads>, "y", "weights"> unfused(fused.parameters());
  std::vector<float> x(2 * 40 * 12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const auto one = fused(arg<"x">(x));
  const auto other = unfused(arg<"x">(x));
  const auto y = one.get<"y">(), z = other.get<"y">();
  float off = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t p = 0; p < 40; ++p)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t d = 0; d < 4; ++d)
          off = std::max(off, std::abs(y.at<Batch>(b).at<Pos>(p).at<Heads>(h)(d) -
                                       z.at<Batch>(b).at<Pos>(p).at<Heads>(h)(d)));
  // Values of about 1, in sums of at most 41.
  BOOST_TEST(off < 41 * 0x1p-23f);
}

BOOST_AUTO_TEST_CASE(fused_attention_with_a_sink_is_its_definition_with_gradients) {
  for (const int pos : {0, 1, 3, 40}) {
    auto s = testing::lengths<Pos>(pos);
    s.tolerance = 1e-4;
    testing::trial<inference<causal_attention<sink_of::heads>, "y">>(s);
    testing::trial<inference<causal_attention<sink_of::all>, "y">>(s);
    testing::trial<inference<causal_attention<sink_of::queries>, "y">>(s);
    testing::trial<inference<zero_key, "y">>(s);
    testing::trial<training<causal_attention<sink_of::heads>, "loss">>(s);
    testing::trial<training<causal_attention<sink_of::all>, "loss">>(s);
    testing::trial<training<causal_attention<sink_of::queries>, "loss">>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
