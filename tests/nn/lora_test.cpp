// Low-rank adaptation: values, gradients, files, merging, and a training that PyTorch has made.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/central_differences.hpp"
#include "support/error_bound.hpp"
#include "support/golden_file.hpp"
#include "support/golden_init.hpp"
#include "support/greater_error.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

namespace nn = weft::nn;
namespace golden = weft::golden;
using weft::arg, weft::shape;

struct Batch : weft::axis<3> {};
struct Pos : weft::axis<12> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<256> {};
struct Embed : weft::axis<24> {};
struct Heads : weft::axis<2> {};
struct Group : weft::axis<3> {};
struct HeadDim : weft::axis<4> {};
struct Rank : weft::axis<4> {};

// The attention of Llama, as tests/golden/lora.py has it; without updates the plain model.
template <bool Updates>
struct attention {
  constexpr auto operator()(weft::scope s) const {
    const auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    const auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    const auto table = nn::tied_embedding<Vocab, Embed>(s / "tokens");
    const auto x = table.embed(tokens);
    const auto project = [&](const char* name, auto out) {
      using Out = decltype(out);
      if constexpr (Updates)
        return nn::lora<Embed, Out, Rank>(s / name, x, {.alpha = 8, .bias = false});
      else
        return nn::linear<Embed, Out>(s / name, x, {.bias = false});
    };
    const auto key = nn::linear<Embed, shape<Heads, HeadDim>>(s / "k_proj", x, {.bias = false});
    const auto at = weft::positions<Pos>();
    const auto q = nn::rotary<HeadDim>(project("q_proj", shape<Heads, Group, HeadDim>{}), at);
    const auto k = weft::rename<Pos, KeyPos>(nn::rotary<HeadDim>(key, at));
    const auto v = weft::rename<Pos, KeyPos>(project("v_proj", shape<Heads, HeadDim>{}));
    const auto weights = nn::attention_weights<HeadDim, KeyPos>(q, k, nn::causal<Pos, KeyPos>());
    const auto y = x + nn::linear<shape<Heads, Group, HeadDim>, Embed>(
                           s / "o_proj", weft::dot<KeyPos>(weights, v), {.bias = false});
    const auto loss = weft::cross_entropy<Vocab>(table.logits(y), targets);
    return weft::as<"loss">(weft::mean<Batch, Pos>(loss));
  }
};
using plain = attention<false>;
using tuned = weft::train_only<attention<true>, "*.lora_*">;
static_assert(weft::training_cost<tuned>.flops < 0.7 * weft::training_cost<attention<true>>.flops);

using ids = weft::view<const std::int32_t, shape<Batch, Pos>>;
float run(auto& t, int step, auto call) {
  const auto bytes = golden::tokens(step, 3, 12);
  return call(t, arg<"tokens">(ids(bytes.tokens.data())),
              arg<"targets">(ids(bytes.targets.data())));
}
constexpr auto take_step = [](auto& t, const auto&... args) { return t.step(args...); };
constexpr auto compute = [](auto& net, const auto&... args) { return net(args...)(); };

void set(const weft::parameter_block& p, std::string_view pattern = "*") {
  for (std::size_t i = 0; i < p.count(); ++i)
    for (std::size_t e = 0; e < p[i].values.size() && weft::matches(pattern, p[i].name); ++e)
      p[i].values[e] = 10 * golden::parameter(p[i].name, e);
}

// Of several axes to several, to one, and to none; with a bias, and after a learned gain.
struct Depth : weft::axis<3> {};
struct Out : weft::axis<5> {};
struct Low : weft::axis<2> {};
struct layers {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, Heads, Depth>() * s.param<"gain", Depth>();
    const auto a = nn::lora<shape<Heads, Depth>, shape<Group, Out>, Low>(s / "a", x);
    const auto b = nn::lora<Depth, Out, Low>(s / "b", x, {.alpha = 1, .bias = false});
    const auto c = nn::lora<Out, shape<>, Low>(s / "c", b, {.alpha = 3});
    return weft::as<"loss">(weft::sum<Pos, Group, Out>(a * a) + weft::sum<Pos, Heads>(c * c));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lora)

BOOST_AUTO_TEST_CASE(training_an_attentions_updates_matches_pytorch) {
  const weft::tensor_file file(weft::testing::golden_file("lora.safetensors"));
  const auto losses = file["output.losses"].values<double>();
  const auto norms = file["output.gradient_norms"].values<double>();
  weft::kernels::on_every_target([&](const auto&) {
    weft::trainer<tuned> t({.learning_rate = 0.01, .weight_decay = 0.01});
    set(t.parameters());
    double losses_off = 0, norms_off = 0;
    for (int step = 0; step < 8; ++step) {
      const auto i = static_cast<std::size_t>(step);
      const double loss = static_cast<double>(run(t, step, take_step));
      losses_off = weft::testing::greater_error(losses_off, std::abs(loss / losses[i] - 1));
      norms_off =
          weft::testing::greater_error(norms_off, std::abs(t.gradient_norm() / norms[i] - 1));
    }
    BOOST_TEST_MESSAGE("off by " << losses_off << " in losses, " << norms_off << " in norms");
    // Four times the largest differences of any SIMD target.
    BOOST_TEST(losses_off <= 3e-7, losses_off);
    BOOST_TEST(norms_off <= 1.2e-6, norms_off);
  });
}

BOOST_AUTO_TEST_CASE(gradients_match_differences_and_the_reference) {
  weft::testing::gradient_trial<layers>();
}

BOOST_AUTO_TEST_CASE(a_new_update_is_zero) {
  weft::module<attention<true>> net({.seed = 3});
  weft::module<plain> base(weft::parameters<plain>(net.parameters()));
  BOOST_TEST(run(net, 0, compute) == run(base, 0, compute));
}

BOOST_AUTO_TEST_CASE(merged_parameters_are_those_of_the_plain_model) {
  weft::module<attention<true>> net;
  set(net.parameters());
  weft::module<plain> merged(weft::merged_lora<plain>(net.parameters(), 8));
  // Some roundings of the projections, of a loss of order 1.
  BOOST_TEST(std::abs(run(merged, 1, compute) - run(net, 1, compute)) < 1e-5f);
  const auto w = merged.parameters().get<"q_proj.weight", Heads, Group, HeadDim, Embed>();
  const auto p = net.parameters();
  const auto a = p.get<"q_proj.lora_A.weight", Rank, Embed>();
  const auto b = p.get<"q_proj.lora_B.weight", Heads, Group, HeadDim, Rank>();
  double sum = 0;
  for (std::size_t r = 0; r < 4; ++r)
    sum += static_cast<double>(b(1, 2, 3, r)) * static_cast<double>(a(r, 5));
  const double old =
      static_cast<double>(p.get<"q_proj.weight", Heads, Group, HeadDim, Embed>()(1, 2, 3, 5));
  BOOST_TEST(w(1, 2, 3, 5) == static_cast<float>(old + 8 / 4.0 * sum));
}

BOOST_AUTO_TEST_CASE(files_of_the_plain_model_and_of_the_update_alone_are_loaded) {
  const weft::parameters<attention<true>> all({.seed = 1}), loaded({.seed = 2});
  const auto stored = [](const weft::parameter_block& p) {
    return weft::tensor_file(weft::saved(p), "memory");
  };
  weft::load(weft::parameters<plain>(loaded), stored(weft::parameters<plain>(all)));
  weft::load(loaded, stored(all), {.only = "*.lora_*", .ignore_others = true});
  for (std::size_t i = 0; i < all.count(); ++i)
    BOOST_TEST(std::ranges::equal(all[i].values, loaded[i].values), all[i].name);
  // The file of the plain model, without a plain model.
  weft::load(loaded, stored(weft::parameters<plain>(weft::parameters<plain>({.seed = 3}))),
             {.only = "?_proj.weight", .ignore_others = true});
  BOOST_TEST(loaded.find("o_proj.weight").values[0] != all.find("o_proj.weight").values[0]);
  BOOST_TEST(loaded.find("tokens.weight").values[0] == all.find("tokens.weight").values[0]);
}

BOOST_AUTO_TEST_SUITE_END()
