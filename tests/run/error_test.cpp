// Errors that are returned instead of thrown.
#include <boost/test/unit_test.hpp>
#include <new>
#include <string>
#include <type_traits>
#include <variant>
#include <weft/weft.hpp>

namespace {

struct Pos : weft::axis<weft::up_to<8>> {};

struct doubled {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos>();
    return x + x + s.input<"y", float, Pos>();
  }
};

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(try_run_returns_what_a_run_would_throw_and_leaves_the_module_usable) {
  weft::module<doubled> net;
  weft::array<float, Pos> x(3), y(3);
  const weft::array<float, Pos> longer(4);
  x(2) = 2;
  y(2) = 1;
  std::string thrown;
  try {
    net(weft::arg<"x">(x), weft::arg<"y">(longer));
  } catch (const weft::error& e) {
    thrown = e.what();
  }
  const auto failed = net.try_run(weft::arg<"x">(x), weft::arg<"y">(longer));
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST(failed.error().what() == thrown);
  const auto z = net.try_run(weft::arg<"x">(x), weft::arg<"y">(y));
  BOOST_REQUIRE(z.has_value());
  BOOST_TEST((*z)(2) == 5);
  static_assert(std::is_same_v<std::decay_t<decltype(*z)>,
                               decltype(net(weft::arg<"x">(x), weft::arg<"y">(y)))>);
}

BOOST_AUTO_TEST_CASE(attempt_returns_values_nothing_and_every_standard_exception) {
  BOOST_TEST(*weft::attempt([] { return 3; }) == 3);
  const weft::expected<std::monostate> nothing = weft::attempt([] {});
  BOOST_TEST(nothing.has_value());
  const auto refused = weft::attempt([]() -> int { throw weft::error("no"); });
  BOOST_TEST(refused.error().what() == "no");
  BOOST_TEST(!weft::attempt([]() -> int { throw std::bad_alloc(); }).has_value());
  const auto made = weft::attempt([] { return weft::module<doubled>({.seed = 2}); });
  BOOST_TEST(made.has_value());
  BOOST_CHECK_THROW(weft::attempt([] { throw 1; }), int);
}

// The handler ends a program, so that here it only shows when it is called.
BOOST_AUTO_TEST_CASE(a_handler_is_not_called_within_attempt) {
  const auto before = weft::set_error_handler([](const char*) { std::abort(); });
  BOOST_TEST((before == nullptr));
  weft::module<doubled> net;
  const weft::array<float, Pos> x(3), longer(4);
  BOOST_TEST(!net.try_run(weft::arg<"x">(x), weft::arg<"y">(longer)).has_value());
  BOOST_TEST(!weft::attempt([&] { return net(weft::arg<"x">(x), weft::arg<"y">(longer)); }));
  weft::set_error_handler(before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
