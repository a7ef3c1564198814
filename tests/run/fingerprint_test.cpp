// The hash of a result: what it depends on, and what not.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "weft/weft.hpp"

namespace {

using weft::arg, weft::fingerprint;

struct Rows : weft::axis<weft::up_to<5>> {};
struct Columns : weft::axis<3> {};
struct Others : weft::axis<weft::up_to<5>> {};

struct line {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto y = weft::dot<Columns>(x, s.param<"w", Columns>(weft::init::ones()));
    return weft::results(weft::as<"loss">(weft::sum<Rows>(y * y)), weft::as<"y">(y),
                         weft::as<"positive">(y > 0));
  }
};

template <class T>
using matrix = weft::array<T, Rows, Columns>;

template <class T>
matrix<T> numbers() {
  matrix<T> x(4);
  for (std::size_t i = 0; i < x.size(); ++i) x.begin()[i] = T(static_cast<float>(i % 7));
  return x;
}

// The hashes of x and of every array that differs from it in one element are all others.
template <class T>
void each_element_counts(T other) {
  matrix<T> x = numbers<T>();
  std::set<std::uint64_t> all{fingerprint(x)};
  for (T& element : x) {
    const T kept = element;
    element = other;
    all.insert(fingerprint(x));
    element = kept;
  }
  BOOST_TEST(all.size() == x.size() + 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fingerprints)

BOOST_AUTO_TEST_CASE(each_element_counts_whatever_its_type) {
  each_element_counts<float>(-0.0f);
  each_element_counts<std::int32_t>(-1);
  each_element_counts<weft::bfloat16>(weft::bfloat16(0.01f));
  matrix<bool> x(4);
  std::set<std::uint64_t> all{fingerprint(x)};
  for (bool& element : x) {
    element = true;
    all.insert(fingerprint(x));
  }
  BOOST_TEST(all.size() == x.size() + 1);
}

BOOST_AUTO_TEST_CASE(types_and_lengths_count_and_names_of_axes_do_not) {
  const weft::array<float, Columns> one;
  const std::set<std::uint64_t> all{fingerprint(matrix<float>(4)),
                                    fingerprint(matrix<float>(3)),
                                    fingerprint(matrix<float>(0)),
                                    fingerprint(matrix<std::int32_t>(4)),
                                    fingerprint(matrix<bool>(4)),
                                    fingerprint(matrix<weft::bfloat16>(4)),
                                    fingerprint(one),
                                    fingerprint(weft::array<float>()),
                                    fingerprint(weft::array<float, Columns, Rows>(4))};
  BOOST_TEST(all.size() == 9u);
  BOOST_TEST(fingerprint(weft::array<float, Others, Columns>(4)) == fingerprint(matrix<float>(4)));
}

BOOST_AUTO_TEST_CASE(strides_do_not_count) {
  const matrix<float> x = numbers<float>();
  std::vector<float> memory(200, -1);
  for (const auto& strides : {std::array<std::ptrdiff_t, 2>{7, 2}, {1, 20}, {-3, 1}, {-20, -1}}) {
    const weft::view<float, weft::shape<Rows, Columns>> y(memory.data() + 100, {4, 3}, strides);
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 3; ++c) y(r, c) = x(r, c);
    BOOST_TEST(fingerprint(y) == fingerprint(x));
  }
}

BOOST_AUTO_TEST_CASE(every_nan_counts_as_the_same) {
  matrix<float> x = numbers<float>();
  std::set<std::uint64_t> all;
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc01234u, 0x7fffffffu}) {
    x(1, 2) = std::bit_cast<float>(bits);
    all.insert(fingerprint(x));
  }
  BOOST_TEST(all.size() == 1u);
  x(1, 2) = std::numeric_limits<float>::infinity();
  all.insert(fingerprint(x));
  BOOST_TEST(all.size() == 2u);
}

// Numbers that other machines have to give as well.
BOOST_AUTO_TEST_CASE(the_hash_is_a_number_that_does_not_change) {
  BOOST_TEST(fingerprint(numbers<float>()) == 9295964126880407033u);
  BOOST_TEST(fingerprint(numbers<std::int32_t>()) == 8156208371876445294u);
  BOOST_TEST(fingerprint(numbers<weft::bfloat16>()) == 2444478760801939390u);
}

BOOST_AUTO_TEST_CASE(all_results_of_a_run_count) {
  weft::module<line> net, same;
  weft::module<line, "y"> part(net.parameters());
  matrix<float> x = numbers<float>();
  const std::uint64_t before = fingerprint(net(arg<"x">(x)));
  BOOST_TEST(fingerprint(same(arg<"x">(x))) == before);
  BOOST_TEST(fingerprint(part(arg<"x">(x))) != before);
  BOOST_TEST(fingerprint(part(arg<"x">(x))) == fingerprint(part(arg<"x">(x))));
  x(3, 1) += 1;
  BOOST_TEST(fingerprint(net(arg<"x">(x))) != before);
}

BOOST_AUTO_TEST_CASE(each_parameter_counts) {
  weft::trainer<line> trainer, same;
  const matrix<float> x = numbers<float>();
  const std::uint64_t before = fingerprint(trainer.parameters());
  trainer.step(arg<"x">(x));
  BOOST_TEST(fingerprint(trainer.parameters()) != before);
  same.step(arg<"x">(x));
  BOOST_TEST(fingerprint(trainer.parameters()) == fingerprint(same.parameters()));
  BOOST_TEST(fingerprint(trainer.optimizer_state(0)) == fingerprint(same.optimizer_state(0)));
  same.parameters().get<"w", Columns>()(2) += 1;
  BOOST_TEST(fingerprint(trainer.parameters()) != fingerprint(same.parameters()));
}

BOOST_AUTO_TEST_SUITE_END()
