// Dropout in training and sampling: reproducible on any number of threads.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "passes/graphs.hpp"
#include "run/pool.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Rows : weft::axis<weft::up_to<300>> {};
struct Embed : weft::axis<100> {};
struct Hidden : weft::axis<64> {};

struct regularized {
  constexpr auto operator()(weft::scope s) const {
    using weft::shape;
    auto x = s.input<"x", float, Rows, Embed>();
    auto h = weft::dropout(weft::gelu(weft::nn::linear<Embed, Hidden>(s / "in", x)), 0.5);
    auto y = weft::nn::linear<Hidden, Embed>(s / "out", h);
    auto e = weft::dropout(y, 0.1) - x;
    return weft::results(weft::as<"loss">(weft::mean<Rows, Embed>(e * e)), weft::as<"y">(y));
  }
};

// Dropout of attention weights, within the fused attention operation.
struct Pos : weft::axis<150> {};
struct KeyPos : weft::alias<Pos> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
struct attentive {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto y = weft::nn::self_attention<axes>(s, x, weft::nn::causal<Pos, KeyPos>(), {.dropout = 0.1})
                 .output;
    return weft::as<"loss">(weft::mean<Pos, Embed>(y * y));
  }
};
static_assert(weft::testing::count(weft::sampling<attentive>::make(), weft::op::attention) == 1);
static_assert(weft::testing::count(weft::sampling<attentive>::make(), weft::op::dropout) == 0);

using trainer = weft::trainer<regularized>;

const std::vector<float> given = [] {
  std::vector<float> x(300 * 100);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 2654435761u % 1000) / 500 - 1;
  return x;
}();
float step(trainer& t) {
  return t.step(arg<"x">(given));
}
template <class Parameters>
std::vector<float> values(const Parameters& p) {
  const auto all = p.floats();
  return {all.begin(), all.end()};
}
template <class Net>
std::vector<float> y(Net& net) {
  const auto v = net(arg<"x">(given)).template get<"y">();
  return {v.data(), v.data() + given.size()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dropout, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(training_with_dropout_gives_the_same_bits_on_any_number_of_threads) {
  trainer alone({}, {.seed = 7});
  std::vector<float> losses;
  for (int i = 0; i < 3; ++i) losses.push_back(step(alone));
  for (const int width : {2, 3}) {
    pool p(width);
    trainer t({}, {.seed = 7});
    t.run_on(on(p, width));
    for (const float loss : losses) BOOST_TEST(step(t) == loss);
    BOOST_TEST((values(t.parameters()) == values(alone.parameters())));
  }
}

BOOST_AUTO_TEST_CASE(attention_dropout_gives_the_same_bits_on_any_number_of_threads) {
  const std::vector<float> x(given.begin(), given.begin() + 150 * 100);
  weft::trainer<attentive> alone({}, {.dropout_seed = 3, .seed = 7});
  std::vector<float> losses;
  for (int i = 0; i < 3; ++i) losses.push_back(alone.step(arg<"x">(x)));
  for (const int width : {2, 3}) {
    pool p(width);
    weft::trainer<attentive> t({}, {.dropout_seed = 3, .seed = 7});
    t.run_on(on(p, width));
    for (const float loss : losses) BOOST_TEST(t.step(arg<"x">(x)) == loss);
    BOOST_TEST((values(t.parameters()) == values(alone.parameters())));
  }
  weft::monte_carlo<attentive> samples(alone.parameters());
  weft::module<attentive> net(alone.parameters());
  samples.draw_from({.seed = 3, .sample = 3});
  const float sample = samples(arg<"x">(x)).get<"loss">()();
  BOOST_TEST(sample == alone.compute_gradients(arg<"x">(x)));
  BOOST_TEST(sample != net(arg<"x">(x)).get<"loss">()());
}

BOOST_AUTO_TEST_CASE(each_step_and_each_seed_has_its_own_dropout_mask) {
  trainer a({}, {.seed = 7}), b({}, {.dropout_seed = 1, .seed = 7});
  const float first = a.compute_gradients(arg<"x">(given));
  BOOST_TEST(a.compute_gradients(arg<"x">(given)) == first);
  BOOST_TEST(b.compute_gradients(arg<"x">(given)) != first);
  a.resume_at(1);
  BOOST_TEST(a.compute_gradients(arg<"x">(given)) != first);
}

// The optimizer has no state: parameters and the number of steps are the whole training state.
BOOST_AUTO_TEST_CASE(training_resumes_from_parameters_and_the_number_of_steps) {
  weft::trainer<regularized, weft::sgd> whole({.learning_rate = 0.1}, {.seed = 7});
  for (int i = 0; i < 2; ++i) whole.step(arg<"x">(given));
  weft::trainer<regularized, weft::sgd> rest({.learning_rate = 0.1});
  std::ranges::copy(whole.parameters().floats(), rest.parameters().floats().begin());
  rest.resume_at(whole.steps());
  BOOST_TEST(rest.steps() == 2);
  for (int i = 0; i < 2; ++i) BOOST_TEST(rest.step(arg<"x">(given)) == whole.step(arg<"x">(given)));
  BOOST_TEST((values(rest.parameters()) == values(whole.parameters())));
}

BOOST_AUTO_TEST_CASE(a_module_drops_nothing_and_monte_carlo_samples_are_reproducible) {
  trainer t({}, {.dropout_seed = 9, .seed = 7});
  weft::module<regularized, "y"> net(t.parameters());
  BOOST_TEST((y(net) == y(net)));
  weft::monte_carlo<regularized, "y", "loss"> samples(t.parameters());
  samples.draw_from({.seed = 9});
  const auto first = y(samples);
  BOOST_TEST((first == y(samples)));
  BOOST_TEST((first != y(net)));
  samples.draw_from({.seed = 9, .sample = 1});
  BOOST_TEST((first != y(samples)));
  // The masks are those of the training step.
  samples.draw_from({.seed = 9});
  BOOST_TEST(samples(arg<"x">(given)).get<"loss">()() == t.compute_gradients(arg<"x">(given)));
}

BOOST_AUTO_TEST_SUITE_END()
