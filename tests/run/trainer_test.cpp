// Training: steps, optimizers, schedules.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "run/classifier.hpp"
#include "support/error_bound.hpp"
#include "support/golden_file.hpp"
#include "weft/files/safetensors.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

template <class Trainer>
float step(Trainer& t) {
  return t.step(arg<"tokens">(rows(six_tokens)), arg<"targets">(rows(six_targets)),
                arg<"scale">(five_scales));
}
template <class Trainer>
float gradients(Trainer& t) {
  return t.compute_gradients(arg<"tokens">(rows(six_tokens)), arg<"targets">(rows(six_targets)),
                             arg<"scale">(five_scales));
}
template <class Parameters>
std::vector<float> values(const Parameters& p) {
  const auto all = p.floats();
  return {all.begin(), all.end()};
}
template <class Parameters>
std::vector<float> values(const Parameters& p, std::string_view name) {
  const auto all = p.find(name).values;
  return {all.begin(), all.end()};
}
double norm(const std::vector<float>& v) {
  double squares = 0;
  for (const float x : v) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

struct Elements : weft::axis<37> {};

// Its gradient for p is the input g.
struct Examples : weft::axis<weft::up_to<8>> {};
struct mean_square {
  constexpr auto operator()(weft::scope s) const {
    const auto y =
        weft::dot<Elements>(s.input<"x", float, Examples, Elements>(), s.param<"w", Elements>());
    return weft::as<"loss">(weft::mean<Examples>(y * y));
  }
};
struct sum_of_squares {
  constexpr auto operator()(weft::scope s) const {
    const auto y =
        weft::dot<Elements>(s.input<"x", float, Examples, Elements>(), s.param<"w", Elements>());
    return weft::as<"loss">(weft::sum<Examples>(y * y));
  }
};
struct linear_form {
  constexpr auto operator()(weft::scope s) const {
    auto p = s.param<"p", Elements>();
    auto g = s.input<"g", float, Elements>();
    return weft::as<"loss">(weft::dot<Elements>(p, g));
  }
};

// Compares with five steps of PyTorch's optimizer in float32 from the same values.
template <class Optimizer>
void check_against_pytorch(Optimizer optimizer, const std::string& name) {
  const weft::tensor_file file(weft::testing::golden_file("optimizer.safetensors"));
  weft::trainer<linear_form, Optimizer> t(optimizer);
  const auto p = t.parameters().find("p").values;
  const auto all = file["gradients"].values<float>();
  const auto after = file[name + ".parameters"].values<double>();
  file["parameters"].read(p);
  for (std::size_t s = 0; s < 5; ++s) {
    const std::vector<float> g(all.begin() + static_cast<std::ptrdiff_t>(37 * s),
                               all.begin() + static_cast<std::ptrdiff_t>(37 * s + 37));
    t.step(arg<"g">(g));
    for (std::size_t i = 0; i < 37; ++i) {
      const double expected = after[37 * s + i];
      // A dozen roundings per step, of values of at most |p| + 1; half of them are PyTorch's.
      const double tolerance =
          12 * static_cast<double>(s + 1) * weft::testing::unit * (std::abs(expected) + 1);
      BOOST_TEST(std::abs(static_cast<double>(p[i]) - expected) <= tolerance,
                 name << ", step " << s << "[" << i << "]: " << p[i] << ", PyTorch: " << expected);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

BOOST_AUTO_TEST_CASE(sgd_matches_pytorch) {
  check_against_pytorch(weft::sgd{.learning_rate = 0.05}, "sgd_plain");
  check_against_pytorch(weft::sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01},
                        "sgd");
  check_against_pytorch(
      weft::sgd{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true},
      "sgd_nesterov");
}

BOOST_AUTO_TEST_CASE(adamw_matches_pytorch) {
  check_against_pytorch(weft::adamw{.learning_rate = 0.01, .weight_decay = 0.01}, "adamw");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(warmup_cosine_rises_linearly_then_falls_by_half_a_cosine) {
  const weft::warmup_cosine s{.warmup = 4, .total = 12, .floor = 0.1};
  for (int i = 0; i < 4; ++i) BOOST_TEST(s(i) == (i + 1) / 4.0);
  BOOST_TEST(s(4) == 1);
  BOOST_TEST(std::abs(s(6) - (0.1 + 0.9 * (0.5 + std::sqrt(0.125)))) < 1e-12);
  BOOST_TEST(std::abs(s(8) - 0.55) < 1e-12);
  BOOST_TEST(std::abs(s(12) - 0.1) < 1e-12);
  BOOST_TEST(s(100) == s(12));
  for (int i = 4; i < 12; ++i) BOOST_TEST(s(i) > s(i + 1));
}

BOOST_AUTO_TEST_CASE(warmup_cosine_without_warmup_begins_at_1) {
  BOOST_TEST((weft::warmup_cosine{.total = 10}(0)) == 1);
  BOOST_TEST(std::abs(weft::warmup_cosine{.total = 10}(5) - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(trainers)

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_bits) {
  weft::trainer<classifier> a({}, {.seed = 7}), b({}, {.seed = 7}), c({}, {.seed = 8});
  for (int i = 0; i < 5; ++i) {
    const float loss = step(a);
    BOOST_TEST(loss == step(b));
    BOOST_TEST(loss != step(c));
    BOOST_TEST((values(a.parameters()) == values(b.parameters())));
  }
}

BOOST_AUTO_TEST_CASE(a_step_equals_gradients_followed_by_apply) {
  weft::trainer<classifier> a({}, {.seed = 7}), b({}, {.seed = 7});
  for (int i = 0; i < 3; ++i) {
    const auto before = values(b.parameters());
    const float loss = gradients(b);
    BOOST_TEST((values(b.parameters()) == before), "gradients alone change nothing");
    b.apply();
    BOOST_TEST((values(b.parameters()) != before));
    BOOST_TEST(step(a) == loss);
    BOOST_TEST((values(a.parameters()) == values(b.parameters())));
    BOOST_TEST(a.steps() == i + 1);
  }
}

BOOST_AUTO_TEST_CASE(the_loss_matches_the_modules_and_decreases) {
  weft::trainer<classifier> t({.learning_rate = 0.05}, {.seed = 7});
  weft::module<classifier, "loss"> n(t.parameters());
  float last = 1e30f;
  for (int i = 0; i < 5; ++i) {
    const float loss = n(arg<"tokens">(rows(six_tokens)), arg<"targets">(rows(six_targets)),
                         arg<"scale">(five_scales))
                           .get<"loss">()();
    BOOST_TEST(std::abs(step(t) - loss) < 1e-6f * 10);
    BOOST_TEST(loss < last);
    last = loss;
  }
}

BOOST_AUTO_TEST_CASE(parameters_are_shared_not_copied) {
  const weft::parameters<classifier> p({.seed = 3});
  weft::trainer<classifier> t(p);
  const auto before = values(p);
  step(t);
  BOOST_TEST((values(p) != before));
  BOOST_TEST((values(p) == values(t.parameters())));
}

BOOST_AUTO_TEST_CASE(positions_beyond_the_length_of_the_run_have_zero_gradients) {
  weft::trainer<classifier> t({}, {.seed = 7});
  gradients(t);
  const auto g = t.gradients().get<"places", Pos, Embed>();
  for (std::size_t e = 0; e < 5; ++e) {
    BOOST_TEST(g(2u, e) != 0);
    for (std::size_t p = 3; p < 6; ++p) BOOST_TEST(g(p, e) == 0);
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_clipped_to_the_maximum_norm) {
  const weft::sgd plain{.learning_rate = 1};
  weft::trainer<classifier, weft::sgd> t(plain, {.clip_norm = 0.01, .seed = 7}),
      free(plain, {.seed = 7}), wide(plain, {.clip_norm = 100, .seed = 7});
  const auto begin = values(t.parameters());
  step(t);
  step(free);
  step(wide);
  const auto g = values(t.gradients());
  BOOST_TEST(std::abs(t.gradient_norm() - norm(g)) < 1e-6 * norm(g));
  BOOST_TEST_REQUIRE(t.gradient_norm() > 0.1);
  BOOST_TEST(t.gradient_norm() == free.gradient_norm(), "told before it is clipped");
  BOOST_TEST((values(wide.parameters()) == values(free.parameters())), "smaller ones stay");
  const auto after = values(t.parameters());
  std::vector<float> change(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) change[i] = begin[i] - after[i];
  // torch.nn.utils.clip_grad_norm_: max_norm / (norm + 1e-6)
  const double scale = 0.01 / (norm(g) + 1e-6);
  for (std::size_t i = 0; i < change.size(); ++i)
    BOOST_TEST(std::abs(static_cast<double>(change[i]) - scale * static_cast<double>(g[i])) <=
               4 * weft::testing::unit * (std::abs(static_cast<double>(begin[i])) + 0.01));
  BOOST_TEST(std::abs(norm(change) - 0.01) < 1e-5);
}

BOOST_AUTO_TEST_CASE(with_a_clip_norm_gradients_that_are_not_finite_change_nothing) {
  for (const float wrong : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    std::vector<float> g(37, 1);
    g[5] = wrong;
    for (const bool told : {true, false}) {
      weft::trainer<linear_form> t({}, {.clip_norm = 1, .error_if_nonfinite = told});
      const auto p = t.parameters().floats();
      const std::vector<float> before(p.begin(), p.end());
      if (told)
        BOOST_CHECK_EXCEPTION(t.step(arg<"g">(g)), weft::error, [](const weft::error& e) {
          return std::string(e.what()).find("no parameter was updated") != std::string::npos;
        });
      else
        t.step(arg<"g">(g));
      BOOST_TEST(std::ranges::equal(p, before));
      BOOST_TEST(t.steps() == 0);
      BOOST_TEST(!std::isfinite(t.gradient_norm()));
      for (std::size_t s = 0; s < weft::adamw::states; ++s)
        for (const float x : t.optimizer_state(s).floats()) BOOST_TEST(x == 0);
      t.step(arg<"g">(std::vector<float>(37, 1)));
      BOOST_TEST(t.steps() == 1);
      BOOST_TEST(p[0] != before[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_batch_of_no_examples_is_an_error_and_changes_nothing) {
  weft::trainer<mean_square> t;
  const auto p = t.parameters().floats();
  const std::vector<float> before(p.begin(), p.end());
  const auto says_so = [](const weft::error& e) {
    return std::string(e.what()).find("Examples has length 0") != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(t.step(arg<"x">(weft::array<float, Examples, Elements>(0))), weft::error,
                        says_so);
  BOOST_CHECK_EXCEPTION(t.compute_gradients(arg<"x">(weft::array<float, Examples, Elements>(0))),
                        weft::error, says_so);
  BOOST_TEST(std::ranges::equal(p, before));
  BOOST_TEST(t.steps() == 0);
  // A sum over none is 0, and so is its gradient.
  weft::trainer<sum_of_squares> total;
  BOOST_TEST(total.step(arg<"x">(weft::array<float, Examples, Elements>(0))) == 0);
}

BOOST_AUTO_TEST_CASE(the_schedule_multiplies_the_learning_rate) {
  std::vector<std::int64_t> asked;
  const weft::sgd plain{.learning_rate = 1};
  weft::trainer<classifier, weft::sgd> t(plain, {.schedule =
                                                     [&](std::int64_t s) {
                                                       asked.push_back(s);
                                                       return s == 1 ? 0.0 : 0.5;
                                                     },
                                                 .seed = 7});
  weft::trainer<classifier, weft::sgd> half({.learning_rate = 0.5}, {.seed = 7});
  step(t);
  step(half);
  BOOST_TEST((values(t.parameters()) == values(half.parameters())));
  step(t);
  BOOST_TEST((values(t.parameters()) == values(half.parameters())), "a rate of 0 changes nothing");
  BOOST_TEST((asked == std::vector<std::int64_t>{0, 1}));
}

BOOST_AUTO_TEST_CASE(the_first_group_that_has_a_parameter_gives_its_rate_and_decay) {
  const weft::adamw by{.learning_rate = 0.01, .weight_decay = 10};
  weft::trainer<classifier> t(by, {.groups = {{.pattern = "head.b*", .rate = 0},
                                              {.pattern = "head.*", .rate = 0.5},
                                              {.pattern = "*places", .decay = 0},
                                              {.pattern = "t?b*e", .decay = 0.5}},
                                   .seed = 7});
  const auto trained = [&](weft::adamw other, const char* name) {
    weft::trainer<classifier> alone(other, {.seed = 7});
    step(alone);
    return values(alone.parameters(), name);
  };
  step(t);
  const auto now = [&](const char* name) { return values(t.parameters(), name); };
  const weft::parameters<classifier> before({.seed = 7});
  BOOST_TEST((now("head.bias") == values(before, "head.bias")));
  BOOST_TEST(
      (now("head.weight") == trained({.learning_rate = 0.005, .weight_decay = 10}, "head.weight")));
  BOOST_TEST((now("places") == trained({.learning_rate = 0.01, .weight_decay = 0}, "places")));
  BOOST_TEST((now("table") == trained({.learning_rate = 0.01, .weight_decay = 5}, "table")));
  // Coupled decay, too.
  const weft::sgd strong{.learning_rate = 0.01, .weight_decay = 10};
  weft::trainer<classifier, weft::sgd> s(strong,
                                         {.groups = {{"head.weight"}, {"*", 1, 0}}, .seed = 7}),
      all(strong, {.seed = 7}), none({.learning_rate = 0.01}, {.seed = 7});
  step(s);
  step(all);
  step(none);
  for (const auto* name : {"head.weight", "table"})
    BOOST_TEST(
        (values(s.parameters(), name) == values((name[0] == 'h' ? all : none).parameters(), name)));
}

BOOST_AUTO_TEST_CASE(a_group_that_has_no_parameter_is_named) {
  BOOST_CHECK_EXCEPTION(
      (weft::trainer<classifier>({}, {.groups = {{.pattern = "*"}, {.pattern = "head_*"}}})),
      weft::error, [](const weft::error& e) {
        return std::string(e.what()) ==
               "training_options: the pattern 'head_*' of a group stands for no parameter of the "
               "model";
      });
}

BOOST_AUTO_TEST_CASE(a_wrong_argument_changes_nothing) {
  weft::trainer<classifier> t({}, {.seed = 7});
  const auto before = values(t.parameters());
  auto wrong = six_targets;
  wrong[0] = 7;
  BOOST_CHECK_THROW(t.step(arg<"tokens">(rows(six_tokens)), arg<"targets">(rows(wrong)),
                           arg<"scale">(five_scales)),
                    weft::error);
  BOOST_TEST((values(t.parameters()) == before));
  BOOST_TEST(t.steps() == 0);
  BOOST_TEST(std::isfinite(step(t)));
}

BOOST_AUTO_TEST_SUITE_END()
