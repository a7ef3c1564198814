// Sums of many terms, on every target: their error does not grow with the number of terms.
//
// All terms are 1 but the first, which is 2^24: added to that in float, a 1 is lost. So what is
// missing in a sum is how many terms followed the first one in its chain of additions.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/scatter_scratch.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::as;

constexpr std::size_t terms = 100000;  // more than in a chain of blocks
constexpr float first = 0x1p24f;
constexpr double total = 0x1p24 + (terms - 1);

struct N : weft::axis<weft::up_to<terms>> {};
struct Three : weft::axis<3> {};
struct Twenty : weft::axis<20> {};
struct Sixty : weft::axis<60> {};
struct Table : weft::axis<7> {};

// Products along N, which is the outer or the inner axis of their operands.
struct products {
  constexpr auto operator()(weft::scope s) const {
    using weft::dot;
    const auto a = s.input<"a", float, N>(), ones = s.input<"ones", float, N>();
    const auto a3 = weft::broadcast<Three>(a) * s.param<"three", Three>(weft::init::ones());
    const auto a60 = weft::broadcast<Sixty>(a) * s.param<"sixty", Sixty>(weft::init::ones());
    const auto by20 = s.input<"by20", float, N, Twenty>();
    const auto inner20 = s.input<"inner20", float, Twenty, N>();
    return weft::results(
        as<"vectors">(dot<N>(a, ones)), as<"vector, outer">(dot<N>(a, by20)),
        as<"vector, inner">(dot<N>(a, inner20)), as<"3 rows, outer">(dot<N>(a3, by20)),
        as<"3 rows, inner">(dot<N>(a3, inner20)), as<"60 rows, outer">(dot<N>(a60, by20)),
        as<"60 rows, inner">(dot<N>(a60, inner20)),
        as<"scaled">(relu(dot<N>(a3, by20) * 0.5f + s.param<"bias", Twenty>())));
  }
};

// Weights of a long row, which freeze() packs.
struct rows_of_weights {
  constexpr auto operator()(weft::scope s) const {
    const auto w = s.param<"w", N, Twenty>(weft::init::ones());
    return weft::results(as<"one">(weft::dot<N>(s.input<"a", float, N>(), w)),
                         as<"many">(weft::dot<N>(s.input<"a60", float, Sixty, N>(), w)));
  }
};

struct segments {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t, N>();
    const auto a = s.input<"a", float, N>();
    const auto by20 = s.input<"by20", float, N, Twenty>();
    return weft::results(as<"elements">(weft::segment_sum<N, Table>(a, i)),
                         as<"rows">(weft::segment_sum<N, Table>(by20, i)));
  }
};

// The gradients of all parameters are sums over N.
struct gradients {
  constexpr auto operator()(weft::scope s) const {
    using weft::sum;
    const auto a = s.input<"a", float, N>();
    const auto i = s.input<"i", std::int32_t, N>();
    const auto x = weft::broadcast<Three>(a) * s.input<"one", float, Three>();
    const auto w = s.param<"w", Three, Twenty>(weft::init::zeros());
    const auto wide = s.param<"wide", Three, Sixty>(weft::init::zeros());
    const auto bias = s.param<"bias", Twenty>(weft::init::zeros());
    const auto table = s.param<"table", Table, Twenty>(weft::init::zeros());
    const auto y = weft::dot<Three>(x, w) + (weft::gather<Table>(table, i) + bias) * a;
    return as<"loss">(sum<N, Twenty>(y) + sum<N, Sixty>(weft::dot<Three>(x, wide)));
  }
};

void check(const auto& sums, double expected, std::size_t chain, const std::string& what) {
  const auto all = weft::array(sums);
  for (const float x : all)
    BOOST_TEST(std::abs(static_cast<double>(x) / expected - 1) * total <=
                   static_cast<double>(chain) + 2,  // and the result is rounded
               what << ": " << x << ", not " << expected);
}

struct arguments {
  weft::array<float, N> a, ones;
  weft::array<float, N, Twenty> by20;
  weft::array<float, Twenty, N> inner20;
  weft::array<std::int32_t, N> i;
  arguments() : a(terms), ones(terms), by20(terms), inner20(terms), i(terms) {
    for (std::size_t t = 0; t < terms; ++t) {
      a(t) = t == 0 ? first : 1;
      ones(t) = 1;
      for (std::size_t c = 0; c < 20; ++c) by20(t, c) = inner20(c, t) = 1;
      i(t) = 4;
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(long_sums, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(products_lose_no_more_than_the_terms_of_one_chain) {
  const arguments x;
  weft::module<products> net;
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    const auto r =
        net(arg<"a">(x.a), arg<"ones">(x.ones), arg<"by20">(x.by20), arg<"inner20">(x.inner20));
    const std::size_t chain = weft::kernels::longest_chain(terms);
    check(r.get<"vectors">(), total, chain, "vectors");
    check(r.get<"vector, outer">(), total, chain, "vector, outer");
    check(r.get<"vector, inner">(), total, chain, "vector, inner");
    check(r.get<"3 rows, outer">(), total, chain, "3 rows, outer");
    check(r.get<"3 rows, inner">(), total, chain, "3 rows, inner");
    check(r.get<"60 rows, outer">(), total, chain, "60 rows, outer");
    check(r.get<"60 rows, inner">(), total, chain, "60 rows, inner");
    check(r.get<"scaled">(), total / 2, chain, "scaled");
  });
}

BOOST_AUTO_TEST_CASE(packed_products_lose_no_more_than_the_terms_of_one_chain) {
  const arguments x;
  weft::array<float, Sixty, N> a60(terms);
  for (std::size_t r = 0; r < 60; ++r)
    for (std::size_t t = 0; t < terms; ++t) a60(r, t) = x.a(t);
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    for (const auto as : {weft::precision::float32, weft::precision::bfloat16}) {
      weft::module<rows_of_weights> net;
      net.freeze(as);
      const auto r = net(arg<"a">(x.a), arg<"a60">(a60));
      check(r.get<"one">(), total, weft::kernels::longest_chain(terms), "one packed");
      check(r.get<"many">(), total, weft::kernels::longest_chain(terms), "many packed");
    }
  });
}

BOOST_AUTO_TEST_CASE(segments_lose_no_more_than_the_terms_of_one_chain) {
  arguments x;
  weft::module<segments> net;
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    x.by20(0, 3) = first;
    const auto r = net(arg<"i">(x.i), arg<"a">(x.a), arg<"by20">(x.by20));
    const auto elements = r.get<"elements">();
    const auto rows = r.get<"rows">();
    for (std::size_t t = 0; t < 7; ++t) {
      const double of_first = t == 4 ? total : 0, of_ones = t == 4 ? terms : 0;
      BOOST_TEST(std::abs(static_cast<double>(elements(t)) - of_first) <=
                 weft::kernels::max_chain_of_additions + 2);
      for (std::size_t c = 0; c < 20; ++c)
        BOOST_TEST(std::abs(static_cast<double>(rows(t, c)) - (c == 3 ? of_first : of_ones)) <=
                   (c == 3 ? weft::kernels::max_chain_of_additions + 2 : 0));
    }
  });
}

BOOST_AUTO_TEST_CASE(gradients_lose_no_more_than_the_terms_of_one_chain) {
  const arguments x;
  weft::array<float, Three> one;
  for (float& v : one) v = 1;
  weft::trainer<gradients> t;
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    t.compute_gradients(arg<"a">(x.a), arg<"i">(x.i), arg<"one">(one));
    const auto g = t.gradients();
    const std::size_t chain = weft::kernels::longest_chain(terms);
    for (const auto* name : {"w", "wide", "bias"})
      for (const float v : g.find(name).values)
        BOOST_TEST(std::abs(static_cast<double>(v) - total) <= static_cast<double>(chain) + 2,
                   name << ": " << v);
    for (std::size_t k = 0; k < 7 * 20; ++k)
      BOOST_TEST(std::abs(static_cast<double>(g.find("table").values[k]) -
                          (k / 20 == 4 ? total : 0)) <= weft::kernels::max_chain_of_additions + 2,
                 "table: " << g.find("table").values[k]);
  });
}

BOOST_AUTO_TEST_SUITE_END()
