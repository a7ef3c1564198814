// Scans: the reference against explicit loops, and lowered programs against the reference.
#include "weft/ops/scan.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "support/central_differences.hpp"
#include "weft/weft.hpp"

namespace {

using weft::backwards, weft::next, weft::scan, weft::shape, weft::testing::lengths,
    weft::testing::settings, weft::testing::trial;

struct Pos : weft::axis<weft::up_to<17>> {};

// An Elman network of any batch and hidden size.
template <int B, int N>
struct elman {
  struct Batch : weft::axis<B> {};
  struct In : weft::axis<3> {};
  struct Hidden : weft::axis<N> {};
  struct Before : weft::alias<Hidden> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, In>();
    auto h0 = s.input<"h0", float, Batch, Hidden>();
    auto w = s.param<"w", Hidden, In>();
    auto u = s.param<"u", Hidden, Before>();
    auto b = s.param<"b", Hidden>();
    auto h = scan<Pos>(h0, x, [&](auto h, auto x_t) {
      return tanh(dot<In>(x_t, w) + dot<Before>(weft::rename<Hidden, Before>(h), u) + b);
    });
    return weft::results(weft::as<"last">(h.last), weft::as<"all">(h.all));
  }
};

// Operands of every kind, each with a gradient.
template <bool Last, bool All, weft::direction D>
struct decoder {
  struct Batch : weft::axis<2> {};
  struct In : weft::axis<3> {};
  struct Hidden : weft::axis<5> {};
  struct Before : weft::alias<Hidden> {};
  struct Unit : weft::axis<4> {};
  constexpr auto operator()(weft::scope s) const {
    using weft::dot, weft::rename, weft::sum;
    auto given = s.input<"given", float, Pos>();
    auto x = s.param<"x", Batch, Pos, In>();
    auto h0 = s.param<"h0", Batch, Hidden>();
    auto m0 = s.param<"m0", Hidden, Batch>();
    auto w = s.param<"w", Hidden, In>();
    auto u = s.param<"u", Hidden, Before>();
    auto b = s.param<"b", Hidden>();
    auto keys = tanh(s.param<"keys", Batch, Unit, Hidden>());
    auto v = s.param<"v", Hidden>();
    auto scale = s.param<"scale">();
    auto r = scan<Pos, D>(
        std::tuple{h0, m0}, std::tuple{x, given}, [&](auto h, auto m, auto x_t, auto given_t) {
          // Additive attention over `keys`.
          auto query = dot<Before>(rename<Hidden, Before>(h), u);
          auto scores = dot<Hidden>(tanh(keys + query), v);
          auto context = dot<Unit>(weft::softmax<Unit>(scores), keys);
          auto z = sigmoid(dot<In>(x_t, w) + b);
          auto after = z * tanh(context + query) + (1 - z) * h * scale;
          return next(after, sin(h) * 0.5f + m * given_t).with(context * z, sum<Hidden>(after));
        });
    constexpr auto weigh = [](auto y, auto... axes) {
      return sum<weft::outermost<decltype(axes)>...>(
          (y * ... *
           sin(weft::cast<float>(weft::positions<weft::outermost<decltype(axes)>>()) + 1.f)));
    };
    const auto [h, m] = r.last;
    const auto [contexts, sums] = r.all;
    auto none = 0.f * sum<Pos>(given);  // an input that gives the length
    auto last =
        weigh(h, shape<Batch>{}, shape<Hidden>{}) + weigh(m, shape<Hidden>{}, shape<Batch>{});
    auto all = weigh(contexts, shape<Batch>{}, shape<Pos>{}, shape<Hidden>{}) +
               weigh(sums, shape<Pos>{}, shape<Batch>{});
    if constexpr (Last && All)
      return weft::as<"loss">(last + all + none);
    else if constexpr (Last)
      return weft::as<"loss">(last + none);
    else
      return weft::as<"loss">(all + none);
  }
};

// Carries that are swapped, one that is constant, and one that takes the operand's value; an axis
// of fixed length, scanned several times, forwards, backwards, and one scan after another.
struct exchange {
  struct Steps : weft::axis<5> {};
  struct Width : weft::axis<3> {};
  struct Depth : weft::axis<3> {};
  constexpr auto operator()(weft::scope s) const {
    using weft::rename;
    auto x = s.input<"x", float, Width, Steps>();
    auto a0 = s.input<"a0", float, Width>();
    auto b0 = s.input<"b0", float, Width>();
    auto m0 = s.input<"m0", float, Width, Depth>();
    auto count0 = s.input<"count0", std::int32_t>();
    auto r = scan<Steps>(
        std::tuple{a0, b0, a0, a0, m0, count0}, x,
        [&](auto a, auto b, auto same, auto taken, auto m, auto count, auto x_t) {
          auto turned = rename<Below, Depth>(rename<Depth, Width>(rename<Width, Below>(m)));
          return next(b, a, same, x_t, turned, count + 1).with(a + 2 * b, taken, exp(b0), count);
        });
    const auto [a, b, same, taken, m, count] = r.last;
    const auto [sums, before, always, counts] = r.all;
    auto totals = scan<Steps, backwards>(a0, sums, [](auto h, auto y_t) { return h / 2 + y_t; });
    auto numbered = scan<Steps>(std::tuple{}, std::tuple{totals.all, counts}, [](auto y_t, auto k) {
      return next().with(y_t * weft::cast<float>(k));
    });
    auto powers = scan<Steps>(a0, std::tuple{}, [](auto h) { return h * 0.5f; });
    return weft::results(weft::as<"a">(a), weft::as<"b">(b), weft::as<"same">(same),
                         weft::as<"taken">(taken), weft::as<"m">(m), weft::as<"count">(count),
                         weft::as<"sums">(sums), weft::as<"before">(before),
                         weft::as<"always">(always), weft::as<"counts">(counts),
                         weft::as<"totals">(totals.all), weft::as<"total">(totals.last),
                         weft::as<"numbered">(numbered.all), weft::as<"powers">(powers.all));
  }
  struct Below : weft::axis<3> {};
};

// Recurrent weights small enough that errors do not grow from step to step.
settings contracting(settings s, int n) {
  s.ranges["u"] = {-1.0 / n, 1.0 / n};
  return s;
}

template <int B, int N>
void try_lengths() {
  for (const int pos : {0, 1, 3, 17})
    trial<weft::inference<elman<B, N>>>(contracting(lengths<Pos>(pos), N));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scans)

BOOST_AUTO_TEST_CASE(recurrent_layers_of_all_lengths_and_sizes_match_the_reference) {
  try_lengths<1, 1>();
  try_lengths<3, 5>();
  try_lengths<1, 20>();
  try_lengths<3, 64>();
}

BOOST_AUTO_TEST_CASE(swapped_carries_and_consecutive_scans_match_the_reference) {
  trial<weft::inference<exchange>>();
  const auto g = weft::testing::plain_graph<weft::inference<exchange>>();
  const weft::testing::expectation e(*g, {});
  const auto result = [&](const char* name) {
    return weft::reference::result(*g, e.values(), name).data;
  };
  const auto& given = e.given().inputs;
  BOOST_TEST(result("a") == given.find("b0")->second);  // an odd number of swaps
  BOOST_TEST(result("b") == given.find("a0")->second);
  BOOST_TEST(result("same") == given.find("a0")->second);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(result("taken")[i] == given.find("x")->second[i * 5 + 4]);
    for (std::size_t j = 0; j < 3; ++j)
      BOOST_TEST(result("m")[i * 3 + j] == given.find("m0")->second[j * 3 + i]);
  }
  BOOST_TEST(result("count")[0] == given.find("count0")->second[0] + 5);
}

// The scan's other result is not needed.
BOOST_AUTO_TEST_CASE(a_single_result_of_a_scan_matches_the_reference) {
  trial<weft::inference<elman<3, 5>, "all">>(contracting(lengths<Pos>(3), 5));
  trial<weft::inference<elman<3, 5>, "last">>(contracting(lengths<Pos>(3), 5));
}

// The loop that `elman` computes, in double precision.
BOOST_AUTO_TEST_CASE(a_scan_equals_its_explicit_loop) {
  using model = elman<3, 5>;
  const auto g = weft::testing::plain_graph<weft::inference<model>>();
  for (const std::size_t n : {0u, 1u, 3u, 17u}) {
    const weft::testing::expectation expected(*g, lengths<Pos>(n));
    const auto& x = expected.given().inputs.find("x")->second;
    const auto& w = expected.given().parameters.find("w")->second;
    const auto& u = expected.given().parameters.find("u")->second;
    const auto& b = expected.given().parameters.find("b")->second;
    std::vector<double> h = expected.given().inputs.find("h0")->second, all(3 * n * 5);
    for (std::size_t t = 0; t < n; ++t) {
      std::vector<double> after(3 * 5);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 5; ++j) {
          double sum = b[j];
          for (std::size_t k = 0; k < 3; ++k) sum += x[(i * n + t) * 3 + k] * w[j * 3 + k];
          for (std::size_t k = 0; k < 5; ++k) sum += h[i * 5 + k] * u[j * 5 + k];
          after[i * 5 + j] = all[(i * n + t) * 5 + j] = std::tanh(sum);
        }
      h = after;
    }
    const auto close = [](const auto& a, const auto& b) {
      BOOST_TEST_REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-13);
    };
    close(weft::reference::result(*g, expected.values(), "last").data, h);
    close(weft::reference::result(*g, expected.values(), "all").data, all);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_all_operands_of_a_scan_match_central_differences) {
  using weft::testing::gradient_trial, weft::forwards;
  const auto of_length = [](int pos) {
    settings s = lengths<Pos>(pos);
    for (const auto* name : {"u", "v", "w", "scale"}) s.ranges[name] = {-0.2, 0.2};
    for (const auto* name : {"h0", "m0"}) s.ranges[name] = {0.2, 1};
    return s;
  };
  for (const int pos : {1, 3}) {
    gradient_trial<decoder<true, true, forwards>>(of_length(pos));
    gradient_trial<decoder<true, false, backwards>>(of_length(pos));
    gradient_trial<decoder<false, true, forwards>>(of_length(pos));
  }
  trial<weft::training<decoder<true, true, forwards>, "loss">>(of_length(0));
}

BOOST_AUTO_TEST_SUITE_END()
