// Initial values of parameters, and access to them.
#include "weft/run/parameters.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "run/classifier.hpp"
#include "weft/run/error.hpp"

namespace {

namespace init = weft::init;

struct Rows : weft::axis<100> {};
struct Heads : weft::axis<4> {};
struct Columns : weft::axis<50> {};

// A parameter of 20000 elements for each initializer.
struct beginnings {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.param<"normal", Rows, Heads, Columns>(init::normal(1, 2));
    auto b = s.param<"uniform", Rows, Heads, Columns>(init::uniform(-1, 3));
    auto c = s.param<"zeros", Rows, Heads, Columns>(init::zeros());
    auto d = s.param<"ones", Rows, Heads, Columns>(init::ones());
    auto e = s.param<"constant", Rows, Heads, Columns>(init::constant(0.1));
    auto f = s.param<"xavier_uniform", Rows, Heads, Columns>(init::xavier_uniform<Columns>(2));
    auto g = s.param<"xavier_normal", Rows, Heads, Columns>(init::xavier_normal<Heads, Columns>());
    auto h = s.param<"fan_in", Rows, Heads, Columns>(init::fan_in_uniform<Rows>());
    auto i = s.param<"default", Rows, Heads, Columns>();
    return weft::sum<Rows, Heads, Columns>(a + b + c + d + e + f + g + h + i);
  }
};

// The same two layers in either order, and with any batch.
template <int First, int Size>
struct layers {
  struct Batch : weft::axis<Size> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Heads>();
    if (First == 1) x = x * s.param<"first", Heads>();
    x = x * s.param<"second", Heads>();
    return First == 1 ? x : x * s.param<"first", Heads>();
  }
};

// Another model, with one parameter name of the first.
struct another {
  constexpr auto operator()(weft::scope s) const {
    auto more = s.param<"more", Heads>();
    return s.param<"normal", Rows, Heads, Columns>(init::normal(1, 2)) + more;
  }
};

struct statistics {
  double mean = 0, variance = 0, least = 0, most = 0;

  explicit statistics(std::span<const float> v) : least(v[0]), most(v[0]) {
    const auto n = static_cast<double>(v.size());
    for (const float x : v) {
      mean += static_cast<double>(x) / n;
      least = std::min(least, static_cast<double>(x));
      most = std::max(most, static_cast<double>(x));
    }
    for (const float x : v) variance += std::pow(static_cast<double>(x) - mean, 2) / n;
  }
};

constexpr double count = 20000;

// The mean of n samples has standard deviation sigma / sqrt(n), their variance at most sigma²
// sqrt(2/n); five of these are exceeded with a probability below 1e-6.
void check_moments(const statistics& s, double mean, double variance) {
  BOOST_TEST(std::abs(s.mean - mean) < 5 * std::sqrt(variance / count));
  BOOST_TEST(std::abs(s.variance - variance) < 5 * variance * std::sqrt(2 / count));
}
// Samples in [from, to): some are near each end, except with a probability below 1e-6.
void check_uniform(const statistics& s, double from, double to) {
  check_moments(s, (from + to) / 2, (to - from) * (to - from) / 12);
  const double near = (to - from) * 14 / count;
  const double rounding = 1e-6 * (to - from);
  BOOST_TEST(s.least >= from - rounding);
  BOOST_TEST(s.most <= to + rounding);
  BOOST_TEST(s.least < from + near);
  BOOST_TEST(s.most > to - near);
}

template <class P, weft::fixed_string Name, class... Axes>
concept gives = requires(const P& p) {
  p.template get<Name, Axes...>();
};
using parameters = weft::parameters<classifier>;
static_assert(gives<parameters, "table", Vocab, Embed>);
static_assert(!gives<parameters, "table", Embed, Vocab>, "the axes are turned round");
static_assert(!gives<parameters, "table", Vocab>, "an axis is missing");
static_assert(!gives<parameters, "tables", Vocab, Embed>, "there is none of this name");
static_assert(gives<parameters, "head.weight", Vocab, Embed>);

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_blocks)

BOOST_AUTO_TEST_CASE(initial_values_have_the_distribution_of_their_initializer) {
  const weft::parameters<beginnings> p({.seed = 11});
  const auto of = [&](std::string_view name) { return statistics(p.find(name).values); };
  check_moments(of("normal"), 1, 4);
  BOOST_TEST(of("normal").most > 1 + 2 * 3);  // tails
  check_uniform(of("uniform"), -1, 3);
  for (const auto& [name, value] :
       {std::pair("zeros", 0.0f), std::pair("ones", 1.0f), std::pair("constant", 0.1f)})
    for (const float x : p.find(name).values) BOOST_REQUIRE_EQUAL(x, value);
  const double half = 2 * std::sqrt(6.0 / (50 + 400));
  check_uniform(of("xavier_uniform"), -half, half);
  check_moments(of("xavier_normal"), 0, 2.0 / (200 + 100));
  check_uniform(of("fan_in"), -0.1, 0.1);
  check_moments(of("default"), 0, 0.02 * 0.02);
}

BOOST_AUTO_TEST_CASE(initial_values_depend_only_on_the_seed_and_the_name) {
  const weft::parameters<beginnings> a({.seed = 5}), b({.seed = 5}), c({.seed = 6});
  const auto values = [](const auto& p, std::string_view name) {
    const auto v = p.find(name).values;
    return std::vector<float>(v.begin(), v.end());
  };
  BOOST_TEST((values(a, "normal") == values(b, "normal")));
  BOOST_TEST((values(a, "normal") != values(c, "normal")));
  BOOST_TEST((values(a, "uniform") != values(c, "uniform")));
  const weft::parameters<another> d({.seed = 5});
  BOOST_TEST((values(a, "normal") == values(d, "normal")), "whatever else the model has");
}

// The initial values of two parameters are not correlated.
BOOST_AUTO_TEST_CASE(initial_values_of_different_names_are_uncorrelated) {
  const weft::parameters<beginnings> p({.seed = 5});
  const auto a = p.find("xavier_uniform").values, b = p.find("fan_in").values;
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += static_cast<double>(a[i] * b[i]);
  const double deviation = std::sqrt(statistics(a).variance * statistics(b).variance / count);
  BOOST_TEST(std::abs(product / count) < 5 * deviation);
}

BOOST_AUTO_TEST_CASE(parameters_are_accessed_by_name_and_axes) {
  const parameters p({.seed = 1});
  BOOST_TEST(p.count() == 4u);
  BOOST_TEST(p.elements() == 35u + 30u + 35u + 7u);
  const auto table = p.get<"table", Vocab, Embed>();
  const auto found = p.find("table");
  BOOST_TEST(found.values.data() == table.data());
  BOOST_TEST(
      (std::vector(found.extents.begin(), found.extents.end()) == std::vector<std::size_t>{7, 5}));
  BOOST_TEST(&table(3u, 2u) == &found.values[17]);
  BOOST_TEST(p.find("places").values.size() == 30u);  // the axis at its bound
  BOOST_CHECK_THROW(p.find("tables"), weft::error);
  for (std::size_t i = 0; i < p.count(); ++i)
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(p[i].values.data()) % 64 == 0u);
}

BOOST_AUTO_TEST_CASE(copies_share_parameters_and_initialize_restores_them) {
  const parameters p({.seed = 1}), same = p;
  const auto begin = p.get<"table", Vocab, Embed>()(6u, 4u);
  same.get<"table", Vocab, Embed>()(6u, 4u) = 9;
  BOOST_TEST((p.get<"table", Vocab, Embed>()(6u, 4u)) == 9);
  parameters again = p;
  again.initialize(1);
  BOOST_TEST((p.get<"table", Vocab, Embed>()(6u, 4u)) == begin);
}

BOOST_AUTO_TEST_CASE(parameters_may_be_in_memory_of_the_caller) {
  const auto memory = weft::allocate(parameters::bytes + 64);
  const std::span<std::byte> room(memory.get(), parameters::bytes);
  parameters p(room);
  BOOST_TEST((p.get<"table", Vocab, Embed>()(1u, 1u)) == 0, "taken as it is");
  p.initialize(2);
  BOOST_TEST((std::ranges::equal(p.floats(), parameters({.seed = 2}).floats())));
  BOOST_CHECK_THROW(parameters(room.first(parameters::bytes - 1)), weft::error);
  BOOST_CHECK_THROW(parameters(std::span(memory.get() + 8, parameters::bytes)), weft::error);
}

BOOST_AUTO_TEST_CASE(a_copy_has_a_block_of_its_own) {
  const parameters p({.seed = 1}), other = p.copy();
  BOOST_TEST((std::ranges::equal(p.floats(), other.floats())));
  other.get<"table", Vocab, Embed>()(6u, 4u) += 1;
  BOOST_TEST((!std::ranges::equal(p.floats(), other.floats())));
}

BOOST_AUTO_TEST_CASE(models_with_the_same_parameters_share_them) {
  const weft::parameters<layers<1, 3>> batch({.seed = 1});
  const weft::parameters<layers<2, 8>> step = batch;
  BOOST_TEST(step.find("second").values.data() == batch.find("second").values.data());
  BOOST_TEST(step.find("first").values.data() == batch.find("first").values.data());
  BOOST_TEST(step.count() == 2u);
  // The order of the parameters is another one.
  BOOST_CHECK_THROW(step.floats(), weft::error);
  BOOST_TEST((std::ranges::equal(step.copy().find("second").values, batch.find("second").values)));

  const weft::program& other = weft::lowered<weft::parameters_only<beginnings>>::program;
  BOOST_CHECK_THROW(weft::parameter_block(other, batch), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
