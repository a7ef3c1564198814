// Arguments of a run: wrong uses that do not compile, and wrong values that throw.
#include <boost/test/unit_test.hpp>
#include <string>

#include "run/classifier.hpp"
#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::refuses, weft::testing::says, weft::testing::thrown_by, weft::arg;
using net = weft::module<classifier, "scaled">;
using ints = std::vector<std::int32_t>;
using floats = std::vector<float>;

template <class Net, class... Args>
concept takes = requires(Net& n, const Args&... args) {
  n(args...);
};
template <class Trainer, class... Args>
concept steps_with = requires(Trainer& t, const Args&... args) {
  t.step(args...);
};
template <weft::fixed_string Name, class T>
using argument = decltype(arg<Name>(std::declval<const T&>()));

using tokens = argument<"tokens", weft::array<std::int32_t, Batch, Pos>>;
using scale = argument<"scale", floats>;

static_assert(takes<net, tokens, scale>);
static_assert(takes<net, scale, tokens>, "by name, so in any order");
static_assert(takes<net, tokens, argument<"scale", std::array<float, 5>>>);
static_assert(takes<net, tokens, argument<"scale", weft::array<float, Embed>>>);
static_assert(!takes<net, tokens>, "one is missing");
static_assert(!takes<net>, "both are missing");
static_assert(!takes<net, tokens, scale, scale>, "one is given twice");
static_assert(!takes<net, tokens, tokens>, "one is given in the other's place");
static_assert(!takes<net, tokens, scale, argument<"targets", ints>>, "these results need none");
static_assert(!takes<net, tokens, argument<"scales", floats>>, "there is no such input");
static_assert(!takes<net, argument<"tokens", weft::array<std::int32_t, Pos, Batch>>, scale>,
              "the axes are turned round");
static_assert(!takes<net, argument<"tokens", weft::array<std::int32_t, Pos>>, scale>,
              "an axis is missing");
static_assert(!takes<net, argument<"tokens", weft::array<float, Batch, Pos>>, scale>,
              "the elements are floats");
static_assert(!takes<net, tokens, argument<"scale", std::vector<double>>>,
              "the elements are doubles");
static_assert(!takes<net, argument<"tokens", ints>, scale>, "a range says no two lengths");

using trainer = weft::trainer<classifier>;
using targets = argument<"targets", weft::array<std::int32_t, Batch, Pos>>;
static_assert(steps_with<trainer, tokens, targets, scale>);
static_assert(!steps_with<trainer, tokens, scale>);
static_assert(!steps_with<trainer, tokens, targets, targets, scale>);
static_assert(!steps_with<trainer, tokens, targets, scale, argument<"x", floats>>);

// Simplification removes every use of `flag` and of the state; no other input or state has Pos.
struct simplified_away {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", Pos, Embed>(weft::init::ones());
    auto flag = s.input<"flag", bool, Pos>();
    auto factor = s.input<"factor", float>();
    auto past = s.state<"past", float, Embed>();
    auto y = where(flag, x, x);
    auto loss = weft::sum<Pos, Embed>(y) + factor * 0;
    auto half = (weft::sum<Pos, Embed>(where(past < 0, y, y)) + factor * 0) * 0.5;
    return weft::results(weft::as<"loss">(loss), weft::as<"half">(half));
  }
};
using simplified_net = weft::module<simplified_away, "half">;
using simplified_trainer = weft::trainer<simplified_away>;
using flag = argument<"flag", std::array<bool, 3>>;
using factor = argument<"factor", float>;
static_assert(takes<simplified_net, flag, factor>);
static_assert(!takes<simplified_net, factor> && !takes<simplified_net, flag>, "one is missing");
static_assert(steps_with<simplified_trainer, flag, factor>);
static_assert(!steps_with<simplified_trainer, factor> && !steps_with<simplified_trainer, flag>);

}  // namespace

BOOST_AUTO_TEST_SUITE(arguments)

BOOST_AUTO_TEST_CASE(an_index_out_of_range_throws_and_the_module_stays_usable) {
  net n({.seed = 3});
  const auto before = n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  const float first = before.get<"scaled">()(1u, 2u, 4u);
  for (const std::int32_t wrong : {7, -1}) {
    ints some = six_tokens;
    some[4] = wrong;
    const std::string message =
        thrown_by([&] { n(arg<"tokens">(rows(some)), arg<"scale">(five_scales)); });
    BOOST_TEST(message == "argument 'tokens': element 4 is " + std::to_string(wrong) +
                              ", and an index into axis Vocab is less than 7 and not negative");
  }
  const auto after = n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  BOOST_TEST(after.get<"scaled">()(1u, 2u, 4u) == first);
}

BOOST_AUTO_TEST_CASE(a_length_beyond_its_bound_throws) {
  net n;
  const weft::array<std::int32_t, Batch, Pos> long_rows(2, 7), many_rows(5, 1);
  std::string message = thrown_by([&] { n(arg<"tokens">(long_rows), arg<"scale">(five_scales)); });
  BOOST_TEST(message == "argument 'tokens': axis Pos has length 7, and may have at most 6");
  message = thrown_by([&] { n(arg<"tokens">(many_rows), arg<"scale">(five_scales)); });
  BOOST_TEST(message == "argument 'tokens': axis Batch has length 5, and may have at most 4");
}

BOOST_AUTO_TEST_CASE(two_lengths_for_one_axis_throw) {
  weft::module<classifier> n;
  const weft::array<std::int32_t, Batch, Pos> three(2, 3), four(2, 4);
  const std::string message =
      thrown_by([&] { n(arg<"targets">(four), arg<"tokens">(three), arg<"scale">(five_scales)); });
  says(message, "axis Pos");
  says(message, "elsewhere in this run");
}

BOOST_AUTO_TEST_CASE(a_range_of_the_wrong_size_throws) {
  net n;
  for (const std::size_t size : {0u, 4u, 6u, 10u}) {
    const floats wrong(size);
    const std::string message =
        thrown_by([&] { n(arg<"tokens">(rows(six_tokens)), arg<"scale">(wrong)); });
    BOOST_TEST(message ==
               "argument 'scale': " + std::to_string(size) + " elements, and 5 are needed");
  }
}

namespace {
struct Filled : weft::axis<weft::between<1, 6>> {};
struct KeyFilled : weft::alias<Filled> {};
struct Rest : weft::axis<weft::between<2, 4>> {};

// The last row, which exists because Filled is at least 1.
struct last_row {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, KeyFilled, Embed>();
    return weft::gather<KeyFilled>(x, weft::cast<std::int32_t>(weft::length<Filled>()) - 1);
  }
};
// Sums the rows after the first two, of which there must be at least two.
struct other_rows {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Filled, Embed>();
    return weft::sum<Rest>(weft::slice<Filled, Rest, 2>(x));
  }
};
}  // namespace

BOOST_AUTO_TEST_CASE(a_length_below_the_minimum_of_its_axis_throws) {
  weft::module<last_row> last;
  std::string message = thrown_by([&] { last(arg<"x">(floats())); });
  BOOST_TEST(message == "argument 'x': axis KeyFilled has length 0, and must have at least 1");
  for (const std::size_t length : {1u, 5u, 6u}) {
    floats x(5 * length);
    x.back() = 3;
    BOOST_TEST(last(arg<"x">(x))(4u) == 3);
  }
  weft::module<other_rows> others;
  message = thrown_by([&] { others(arg<"x">(floats(15, 1.0f))); });
  says(message, "axis Rest has length 1, and must have at least 2");
  BOOST_TEST(others(arg<"x">(floats(20, 1.0f)))(0u) == 2);
}

namespace {
struct one_length {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Pos>(s.input<"x", float, Pos, Embed>());
  }
};
}  // namespace

BOOST_AUTO_TEST_CASE(the_size_of_a_range_gives_the_one_unknown_length) {
  weft::module<one_length> n;
  BOOST_TEST(n(arg<"x">(floats(15, 2.0f)))(0u) == 6);
  BOOST_TEST(n(arg<"x">(floats(30, 2.0f)))(4u) == 12);
  BOOST_TEST(n(arg<"x">(floats()))(4u) == 0);
  BOOST_TEST(thrown_by([&] { n(arg<"x">(floats(14))); }) ==
             "argument 'x': 14 elements, and a multiple of 5 are needed");
  refuses([&] { n(arg<"x">(floats(35))); }, "may have at most 6");
}

BOOST_AUTO_TEST_CASE(an_input_that_simplification_leaves_unused_is_still_an_argument) {
  const weft::parameters<simplified_away> parameters({.seed = 1});
  simplified_net n(parameters);
  weft::trainer<simplified_away> trainer({.learning_rate = 0}, {.seed = 1});
  for (const std::size_t length : {0u, 1u, 6u}) {
    const weft::array<bool, Pos> given(length);
    const float sum = 5 * static_cast<float>(length);
    BOOST_TEST(n(arg<"flag">(given), arg<"factor">(3.f)).get<"half">()() == sum / 2);
    BOOST_TEST(trainer.step(arg<"factor">(3.f), arg<"flag">(given)) == sum);
  }
  const auto past = n.state<"past", float, Embed>();
  BOOST_TEST(past(4u) == 0);
  const weft::array<bool, Pos> seven(7);
  refuses([&] { n(arg<"flag">(seven), arg<"factor">(3.f)); }, "argument 'flag'");
}

BOOST_AUTO_TEST_SUITE_END()
