// Parameters that are held while others train, and gradients of several batches.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "run/pool.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::matches;

static_assert(matches("*", "") && matches("", "") && !matches("", "a") && !matches("?", ""));
static_assert(matches("layers.*.weight", "layers.0.self_attn.weight"));
static_assert(!matches("layers.*.weight", "layers.0.weights") && matches("*a*b*", "xaxxabx"));
static_assert(matches("layers.?.q_proj*", "layers.3.q_proj") && !matches("?b*", "b"));

struct Batch : weft::axis<weft::up_to<4>> {};
struct Pos : weft::axis<6> {};
struct KeyPos : weft::alias<Pos> {};
struct In : weft::axis<8> {};
struct Embed : weft::axis<8> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<4> {};
struct Hidden : weft::axis<12> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};
template <int Percent>
struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, In>();
    auto wide = weft::nn::linear<In, Embed>(s / "in", x);
    auto dropped = weft::dropout(wide, Percent / 100.0);
    auto y = weft::nn::encoder<axes>(s, dropped, 2).output;
    return weft::as<"loss">(weft::mean<Batch, Pos, Embed>(y * y * y));
  }
};
using whole = model<0>;
using biases = weft::train_only<whole, "layers.1.*.bias", "*.1.norm?.weight">;
using last = weft::train_except<whole, "in.*", "layers.0.*">;
// Of what two choices leave, both hold.
using both = weft::train_only<last, "*.linear?.weight", "in.bias">;

template <class M>
constexpr auto cost = weft::training_cost<M>;
static_assert(cost<biases>.flops < cost<last>.flops && cost<last>.flops < cost<whole>.flops);
static_assert(cost<last>.flops < 0.7 * cost<whole>.flops);
static_assert(cost<last>.workspace_bytes < cost<whole>.workspace_bytes);
static_assert(weft::cost<biases>.flops == weft::cost<whole>.flops);

std::vector<float> numbers(std::size_t n, unsigned seed) {
  std::vector<float> v(n);
  for (float& x : v)
    x = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 9) / (1 << 22) - 1;
  return v;
}
using batch_view = weft::view<const float, weft::shape<Batch, Pos, In>>;
const auto examples = numbers(8 * 48, 3);
// Examples [begin, begin + size).
batch_view part(std::size_t begin, std::size_t size) {
  return batch_view(examples.data() + begin * 48, size);
}

// The names of the parameters for which the gradient of a step is not zero, which a step changes.
template <class Choice>
std::vector<std::string> trained() {
  const weft::parameters<whole> p({.seed = 1});
  const auto before = p.copy();
  weft::trainer<whole, weft::sgd> all(before.copy(), {.learning_rate = 1}, {.clip_norm = 1e9});
  weft::trainer<Choice, weft::sgd> t(p, {.learning_rate = 1, .weight_decay = 0.1});
  BOOST_TEST(t.compute_gradients(arg<"x">(part(0, 3))) ==
             all.compute_gradients(arg<"x">(part(0, 3))));
  const auto g = t.gradients(), expected = weft::parameters<Choice>(all.gradients());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < g.count(); ++i) {
    if (std::ranges::all_of(g[i].values, [](float x) { return x == 0; })) continue;
    names.emplace_back(g[i].name);
    BOOST_TEST(std::ranges::equal(g[i].values, expected[i].values), g[i].name);
  }
  t.apply();
  for (std::size_t i = 0; i < p.count(); ++i) {
    const bool changes = std::ranges::count(names, p[i].name) > 0;
    BOOST_TEST(std::ranges::equal(p[i].values, before[i].values) == !changes, p[i].name);
  }
  return names;
}

template <class T>
float accumulate(T& t, std::size_t begin, std::size_t size) {
  return t.accumulate(arg<"x">(part(begin, size)));
}
template <class Parameters>
std::vector<float> values(const Parameters& p) {
  const auto all = p.floats();
  return {all.begin(), all.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_only)

BOOST_AUTO_TEST_CASE(the_gradients_that_remain_have_the_same_bits_and_the_others_stay) {
  BOOST_TEST(trained<biases>().size() == 7u);
  BOOST_TEST(trained<last>().size() == 14u);  // of a layer, and of the last norm
  BOOST_TEST((trained<both>() ==
              std::vector<std::string>{"layers.1.linear1.weight", "layers.1.linear2.weight"}));
}

BOOST_AUTO_TEST_CASE(the_plain_model_shares_the_parameters) {
  weft::trainer<last> t(weft::adamw{}, {.seed = 2});
  weft::module<whole, "loss"> net(t.parameters());
  const float before = net(arg<"x">(part(0, 2)))();
  for (int i = 0; i < 3; ++i) t.step(arg<"x">(part(0, 2)));
  BOOST_TEST(net(arg<"x">(part(0, 2)))() != before);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(accumulation)

BOOST_AUTO_TEST_CASE(a_step_takes_the_mean_of_the_batches_gradients) {
  weft::trainer<whole> t({}, {.seed = 1}), one({}, {.seed = 1});
  // Four batches, of powers of two, so that the mean is exact but for the sum's order.
  std::vector<float> sum(values(t.gradients()).size());
  for (std::size_t b = 0; b < 4; ++b) {
    const float loss = accumulate(t, 2 * b, 2);
    BOOST_TEST(loss == one.compute_gradients(arg<"x">(part(2 * b, 2))));
    const auto g = values(one.gradients()), mean = values(t.gradients());
    for (std::size_t i = 0; i < g.size(); ++i) {
      sum[i] += g[i];
      BOOST_TEST(mean[i] == sum[i] / static_cast<float>(b + 1));
    }
  }
  std::ranges::copy(t.gradients().floats(), one.gradients().floats().begin());
  t.apply();
  one.apply();
  BOOST_TEST((values(t.parameters()) == values(one.parameters())));
  BOOST_TEST(t.steps() == 1);
  // The next sum begins anew, after apply() and after other gradients.
  accumulate(t, 0, 2);
  one.compute_gradients(arg<"x">(part(0, 2)));
  BOOST_TEST((values(t.gradients()) == values(one.gradients())));
  t.compute_gradients(arg<"x">(part(2, 2)));
  accumulate(t, 0, 2);
  BOOST_TEST((values(t.gradients()) == values(one.gradients())));
}

BOOST_AUTO_TEST_CASE(threads_and_held_parameters_change_no_bit) {
  const auto of = [](auto& t) {
    for (int step = 0; step < 2; ++step) {
      for (std::size_t b = 0; b < 3; ++b) accumulate(t, b, 2);
      t.apply();
    }
    return values(t.parameters());
  };
  pool threads(3);
  weft::trainer<both> t({}, {.clip_norm = 0.01, .seed = 4}),
      many({}, {.clip_norm = 0.01, .seed = 4});
  many.run_on(on(threads, 3));
  BOOST_TEST((of(t) == of(many)));
}

BOOST_AUTO_TEST_CASE(each_batch_has_dropout_masks_of_its_own) {
  weft::trainer<model<50>> t({}, {.seed = 1});
  const float first = accumulate(t, 0, 2);
  BOOST_TEST(accumulate(t, 0, 2) != first);
  BOOST_TEST(t.compute_gradients(arg<"x">(part(0, 2))) == first);
}

BOOST_AUTO_TEST_CASE(an_argument_that_is_refused_changes_nothing) {
  weft::trainer<whole> t({}, {.seed = 1}), other({}, {.seed = 1});
  for (std::size_t b = 0; b < 2; ++b) accumulate(other, b, 2);
  accumulate(t, 0, 2);
  const weft::array<float, Batch, Pos, In> more(5);
  BOOST_CHECK_THROW(t.accumulate(arg<"x">(more)), weft::error);
  accumulate(t, 1, 2);
  BOOST_TEST((values(t.gradients()) == values(other.gradients())));
}

BOOST_AUTO_TEST_SUITE_END()
