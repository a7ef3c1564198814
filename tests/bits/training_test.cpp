// Initial values and training: a model of characters like the demo's, with dropout, and optimizers.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bits/hashes.hpp"
#include "support/golden_init.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::fingerprint, weft::testing::hashes;

struct Batch : weft::axis<4> {};
struct Pos : weft::axis<30> {};
struct KeyPos : weft::alias<Pos> {};
struct Vocab : weft::axis<256> {};
struct Embed : weft::axis<40> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<20> {};
struct Hidden : weft::axis<90> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

struct characters {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    const auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    const auto targets = s.input<"targets", std::int32_t, Batch, Pos>();
    const auto x = nn::embedding<Vocab, Embed>(s / "tokens", tokens, weft::init::normal(0, 0.02)) +
                   nn::learned_positions<Pos, Embed>(s / "positions");
    const auto y =
        nn::encoder<axes>(s, x, 2, nn::causal<Pos, KeyPos>(), {.norm_first = true, .dropout = 0.1});
    const auto logits = nn::linear<Embed, Vocab>(s / "head", y.output);
    return weft::as<"loss">(weft::mean<Batch, Pos>(weft::cross_entropy<Vocab>(logits, targets)));
  }
};

// Parameters of every kind of initial values.
struct initial {
  constexpr auto operator()(weft::scope s) const {
    namespace init = weft::init;
    return s.param<"normal", Vocab, Embed>(init::normal(0.5, 2)) +
           s.param<"uniform", Vocab, Embed>(init::uniform(-3, 0.1)) +
           s.param<"powers", Vocab>(init::powers(10000, -0.01, 0.5)) +
           s.param<"whole_powers", Embed>(init::powers(-0.9, 1)) +
           s.param<"xavier_uniform", Vocab, Embed>(init::xavier_uniform<Vocab>()) +
           s.param<"xavier_normal", Vocab, Embed>(init::xavier_normal<Embed>()) +
           s.param<"fan_in_uniform", Vocab, Embed>(init::fan_in_uniform<Embed>());
  }
};

// The hashes of the losses of all steps, and of the parameters and the optimizer's state after
// some.
template <class Optimizer>
void train(hashes& to, const std::string& name, Optimizer by, int steps,
           weft::training_options options) {
  weft::trainer<characters, Optimizer> trainer(by, std::move(options));
  std::vector<float> losses;
  for (int step = 1; step <= steps; ++step) {
    const auto text = weft::golden::tokens(step % 8, Batch::extent, Pos::extent);
    losses.push_back(trainer.step(arg<"tokens">(text.tokens), arg<"targets">(text.targets)));
    if (step != 1 && step != steps) continue;
    const std::string after = name + ".after_" + std::to_string(step);
    to.add(after, fingerprint(trainer.parameters()));
    for (std::size_t s = 0; s < Optimizer::states; ++s)
      to.add(after + ".state_" + std::to_string(s), fingerprint(trainer.optimizer_state(s)));
  }
  struct Step : weft::axis<weft::up_to<1000>> {};
  to.add(name + ".losses",
         fingerprint(weft::view<const float, weft::shape<Step>>(losses.data(), losses.size())));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training_steps, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(initial_values_have_the_same_bits_on_all_targets) {
  hashes all("initial");
  all.check_on_every_target([&] {
    const weft::parameters<initial> p({.seed = 7});
    for (std::size_t i = 0; i < p.count(); ++i) {
      struct Element : weft::axis<weft::up_to<100000>> {};
      const weft::parameter one = p[i];
      all.add(std::string(one.name), fingerprint(weft::view<const float, weft::shape<Element>>(
                                         one.values.data(), one.values.size())));
    }
  });
}

BOOST_AUTO_TEST_CASE(training_has_the_same_bits_on_all_targets_of_a_family) {
  hashes all("training");
  all.check_on_every_target([&] {
    train(all, "adamw", weft::adamw{.learning_rate = 3e-3}, 50,
          {.clip_norm = 1,
           .schedule = weft::warmup_cosine{.warmup = 10, .total = 50, .floor = 0.1},
           .dropout_seed = 5,
           .seed = 6});
    train(all, "sgd", weft::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}, 5,
          {.seed = 6});
  });
}

BOOST_AUTO_TEST_SUITE_END()
