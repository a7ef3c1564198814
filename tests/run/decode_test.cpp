// Decoding step by step gives the results of a run on the whole sequence.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "passes/graphs.hpp"
#include "run/allocations.hpp"
#include "run/pool.hpp"
#include "support/error_bound.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Batch : weft::axis<weft::up_to<4>> {};
struct Pos : weft::axis<weft::up_to<25>> {};
struct KeyPos : weft::alias<Pos> {};
struct Cache : weft::axis<weft::up_to<30>> {};
struct Embed : weft::axis<10> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<5> {};

// Two layers of windowed attention; the models differ in attend(q, k, v, layer).
template <class Attend>
constexpr auto layers(weft::scope s, const Attend& attend) {
  using Inner = weft::shape<Heads, HeadDim>;
  namespace nn = weft::nn;
  auto x = s.input<"x", float, Batch, Pos, Embed>();
  for (int i = 0; i < 2; ++i) {
    const auto layer = s / "layers" / i;
    const auto project = [&](auto name) {
      return nn::linear<Embed, Inner>(layer / name, x, {.bias = false});
    };
    const auto y = attend(project("query"), project("key"), project("value"), layer);
    x = x + nn::linear<Inner, Embed>(layer / "out", y, {.bias = false});
  }
  return x;
}

struct whole {
  constexpr auto operator()(weft::scope s) const {
    using weft::positions;
    return layers(s, [](const auto& q, const auto& k, const auto& v, weft::scope) {
      const auto mask =
          positions<KeyPos>() <= positions<Pos>() && positions<KeyPos>() > positions<Pos>() - 13;
      const auto keys = weft::rename<Pos, KeyPos>(k);
      const auto weights = weft::nn::attention_weights<HeadDim, KeyPos>(q, keys, mask);
      return weft::dot<KeyPos>(weights, weft::rename<Pos, KeyPos>(v));
    });
  }
};

template <class At>
constexpr auto decode(weft::scope s, const At& at) {
  namespace nn = weft::nn;
  return layers(s, [&](const auto& q, const auto& k, const auto& v, weft::scope layer) {
    const auto mask =
        nn::causal_cache_mask<Cache>(at) && weft::positions<Cache>() > nn::position_ids(at) - 13;
    const auto past = nn::kv_cache<Cache>(layer / "cache", at, k, v);
    const auto weights = nn::attention_weights<HeadDim, Cache>(q, past.keys, mask);
    return weft::dot<Cache>(weights, past.values);
  });
}
struct stepwise {
  constexpr auto operator()(weft::scope s) const {
    return decode(s, weft::nn::decode_state<Pos, Batch>(s / "decoding"));
  }
};
struct ragged {
  constexpr auto operator()(weft::scope s) const {
    const auto count = s.input<"count", std::int32_t, Batch>();
    return decode(s, weft::nn::decode_state<Pos, Batch>(s / "decoding", count));
  }
};

// Attention is fused in each model, masked by positions alone, and caches are updated in place.
template <class Model, class... Roles>
constexpr bool is_fused(Roles... of) {
  const weft::graph g = weft::inference<Model>::make();
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == weft::op::attention && !weft::testing::has_optional(g.nodes[i], of...))
      return false;
  return weft::testing::count(g, weft::op::attention) == 2;
}
static_assert(is_fused<whole>());
static_assert(is_fused<stepwise>(weft::role::offset));
static_assert(is_fused<ragged>(weft::role::offset, weft::role::lengths));
static_assert(weft::cost<stepwise>.state_bytes ==
              weft::align(4 * sizeof(std::int32_t)) + 4 * weft::align(4 * 30 * 10 * 4));

constexpr std::size_t batch = 3, length = 25;

// Results for the whole sequences in double precision, with the error bound of float32.
class expected {
 public:
  explicit expected(const weft::parameter_block& parameters) {
    const auto g = weft::testing::plain_graph<weft::inference<whole>>();
    weft::reference::lengths of;
    of.set<Batch>(batch).set<Pos>(length);
    weft::reference::bindings given;
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_.data()[i] = std::sin(static_cast<float>(i * i % 1009));
    given.inputs["x"].assign(x_.begin(), x_.end());
    for (std::size_t i = 0; i < parameters.count(); ++i) {
      const auto p = parameters[i];
      given.parameters[std::string(p.name)].assign(p.values.begin(), p.values.end());
    }
    const auto [all, bounds] = weft::testing::evaluate_with_bounds(*g, of, given);
    result_ = weft::reference::result(*g, all).data;
    bound_ = bounds[static_cast<std::size_t>(g->outputs[0].node)];
    BOOST_TEST_REQUIRE(bound_ < 1e-3 * *std::max_element(result_.begin(), result_.end()));
  }

  float x(std::size_t b, std::size_t p, std::size_t e) const { return x_(b, p, e); }
  bool is(std::size_t b, std::size_t p, std::size_t e, float y) const {
    return std::abs(static_cast<double>(y) - result_[(b * length + p) * Embed::extent + e]) <=
           bound_;
  }

 private:
  weft::array<float, Batch, Pos, Embed> x_{batch, length};
  std::vector<double> result_;
  double bound_ = 0;
};

// Small weights, so that an error bound that grows with every contraction stays meaningful.
template <class Model>
weft::parameters<Model> small_parameters() {
  weft::parameters<Model> all({.seed = 7});
  for (float& w : all.floats()) w /= 4;
  return all;
}

// Continues each sequence from its own position, and checks the results for its next `count`
// positions.
template <class Net>
class decoder {
 public:
  explicit decoder(Net& net) : net_(net), all_(net.parameters()) {}

  void step(const std::vector<std::int32_t>& count, std::size_t rows) {
    weft::array<float, Batch, Pos, Embed> x(batch, rows);
    each(count, [&](auto b, auto p, auto e) { x(b, p, e) = all_.x(b, done_[b] + p, e); });
    const auto y = [&] {
      if constexpr (std::same_as<Net, weft::module<ragged>>)
        return net_(arg<"x">(x), arg<"count">(count));
      else
        return net_(arg<"x">(x));
    }();
    int wrong = 0;
    each(count, [&](auto b, auto p, auto e) { wrong += !all_.is(b, done_[b] + p, e, y(b, p, e)); });
    BOOST_TEST(wrong == 0, wrong << " wrong from " << done_[0] << " on");
    for (std::size_t b = 0; b < batch; ++b) done_[b] += static_cast<std::size_t>(count[b]);
  }
  void forget(std::size_t b) { done_[b] = 0; }
  std::size_t done(std::size_t b) const { return done_[b]; }

 private:
  template <class F>
  void each(const std::vector<std::int32_t>& count, F f) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < static_cast<std::size_t>(count[b]); ++p)
        for (std::size_t e = 0; e < Embed::extent; ++e) f(b, p, e);
  }

  Net& net_;
  expected all_;
  std::size_t done_[batch]{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(decoding)

BOOST_AUTO_TEST_CASE(chunks_of_any_size_give_the_results_of_the_whole_sequence) {
  weft::module<stepwise> net(small_parameters<stepwise>());
  for (const std::size_t part : {1u, 3u, 7u, 25u}) {
    net.reset();
    decoder d(net);
    while (d.done(0) < length) {
      const std::size_t rows = std::min(part, length - d.done(0));
      d.step(std::vector<std::int32_t>(batch, static_cast<std::int32_t>(rows)), rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(sequences_of_a_batch_have_their_own_lengths) {
  weft::module<ragged> net(small_parameters<ragged>());
  decoder d(net);
  d.step({5, 0, 11}, 11);  // prompts
  d.step({1, 1, 1}, 1);
  d.step({0, 3, 1}, 4);
  d.step({7, 7, 7}, 7);
  net.reset<Batch>(2);  // replaced by another sequence
  d.forget(2);
  d.step({2, 0, 13}, 14);
  for (int i = 0; i < 8; ++i) d.step({1, 1, 1}, 1);
  const auto filled = net.state<"decoding.length", std::int32_t, Batch>();
  BOOST_TEST(filled(0) == 23);
  BOOST_TEST(filled(1) == 19);
  BOOST_TEST(filled(2) == 21);
}

BOOST_AUTO_TEST_CASE(a_full_cache_is_an_error_that_names_the_length) {
  weft::module<stepwise> net;
  const weft::array<float, Batch, Pos, Embed> x(2, 25), six(2, 6);
  net(arg<"x">(x));
  BOOST_CHECK_EXCEPTION(net(arg<"x">(six)), weft::error, [](const weft::error& e) {
    return std::string(e.what()) ==
           "state 'decoding.length': element 0 is 25, and from there is no room for 6 more along "
           "axis Cache, whose length is 30";
  });
}

BOOST_AUTO_TEST_CASE(threads_give_the_same_bits_and_steps_allocate_nothing) {
  pool p(3);
  weft::module<stepwise> alone({.seed = 3}), many({.seed = 3});
  many.run_on(on(p, 3));
  weft::array<float, Batch, Pos, Embed> x(4, 6);
  for (float& e : x) e = std::sin(static_cast<float>(&e - x.begin()));
  for (int i = 0; i < 5; ++i) {
    const weft::array<float, Batch, Pos, Embed> a(alone(arg<"x">(x)));
    weft::view<const float, weft::shape<Batch, Pos, Embed>> b(nullptr, 4, 6);
    BOOST_TEST(allocations_in([&] { b = many(arg<"x">(x)); }) == 0);
    const weft::array<float, Batch, Pos, Embed> kept(b);
    BOOST_TEST(std::equal(a.begin(), a.end(), kept.begin(), kept.end()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
