// Modules with packed parameters.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/targets.hpp"
#include "weft/run/mixed.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Rows : weft::axis<weft::up_to<40>> {};
struct Embed : weft::axis<24> {};
struct Heads : weft::axis<5> {};
struct Dim : weft::axis<20> {};
struct Wide : weft::axis<70> {};

// A plain linear layer; a contraction whose weight has its axes in another order than the result;
// and one that is batched over Heads: its weight, a matrix per head, is not packed.
struct layers {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Embed>();
    auto wide = weft::nn::linear<Embed, Wide>(s / "wide", x);
    auto by_head = s.param<"by_head", Heads, Wide, Dim>(weft::init::normal());
    auto heads = weft::dot<Wide>(wide, by_head);
    auto each = s.param<"each", Heads, Dim, Embed>(weft::init::normal());
    return weft::results(weft::as<"wide">(wide), weft::as<"heads">(heads),
                         weft::as<"each">(weft::dot<Dim>(heads, each)));
  }
};
using net = weft::module<layers>;

std::vector<float> input(std::size_t rows) {
  std::vector<float> x(rows * Embed::extent);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  return x;
}

template <weft::fixed_string Result>
std::vector<float> run(net& n, std::size_t rows) {
  const auto x = input(rows);
  const auto y = n(arg<"x">(weft::view<const float, weft::shape<Rows, Embed>>(x.data(), rows)))
                     .template get<Result>();
  return std::vector<float>(y.data(), y.data() + y.size());
}

// The error bound of the plain layer: each of the 24 products has the relative error `product`, or
// that of a product with the column's largest weight, and the sums have that of float32 sums.
double most_by_rounding(net& n, std::size_t row, std::size_t column, double product,
                        bool of_largest = false) {
  const auto x = input(row + 1);
  const auto w = n.parameters().get<"wide.weight", Wide, Embed>();
  double sum = 0, largest = 0;
  for (std::size_t e = 0; e < Embed::extent; ++e)
    largest = std::max(largest, std::abs(static_cast<double>(w(column, e))));
  for (std::size_t e = 0; e < Embed::extent; ++e)
    sum += std::abs(static_cast<double>(x[row * Embed::extent + e])) *
           (of_largest ? largest : std::abs(static_cast<double>(w(column, e))));
  return sum * (product + 2 * (Embed::extent + 4) *
                              static_cast<double>(std::numeric_limits<float>::epsilon()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frozen)

// 80 + 112 lines of one block and three blocks.
static_assert(net::packed_bytes(weft::precision::q8_0) == 34 * (96 + 352));
static_assert(net::packed_bytes(weft::precision::q4_0) == 18 * (96 + 352));
static_assert(net::packed_bytes(weft::precision::int8_products) == 36 * (96 + 352));

// Two weights, of 24 x 70 and of 70 x 100; the third is not packed.
static_assert(net::packed_bytes() >= 4 * (24 * 70 + 70 * 100));
static_assert(net::packed_bytes() < 4 * (24 * 80 + 70 * 112) + 256);
static_assert(net::packed_bytes(weft::precision::bfloat16) == net::packed_bytes() / 2);
static_assert(net::packed_bytes(weft::precision::bfloat16_products) == net::packed_bytes() / 2);

BOOST_AUTO_TEST_CASE(freezing_changes_no_bit_of_products_with_many_rows) {
  weft::kernels::on_every_target([](const auto&) {
    net live({.seed = 1}), packed(live.parameters());
    packed.freeze();
    for (const std::size_t rows : {5u, 8u, 17u, 40u}) {
      BOOST_TEST((run<"wide">(packed, rows) == run<"wide">(live, rows)));
      BOOST_TEST((run<"heads">(packed, rows) == run<"heads">(live, rows)));
      BOOST_TEST((run<"each">(packed, rows) == run<"each">(live, rows)));
    }
  });
}

BOOST_AUTO_TEST_CASE(freezing_changes_products_with_few_rows_only_by_rounding) {
  weft::kernels::on_every_target([](const auto&) {
    net live({.seed = 1}), packed(live.parameters());
    packed.freeze();
    for (const std::size_t rows : {1u, 2u, 3u, 4u}) {
      const auto a = run<"wide">(packed, rows), b = run<"wide">(live, rows);
      for (std::size_t i = 0; i < a.size(); ++i)
        BOOST_TEST(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <=
                   most_by_rounding(live, i / Wide::extent, i % Wide::extent, 0));
    }
    BOOST_TEST(run<"wide">(packed, 0).empty());
  });
}

BOOST_AUTO_TEST_CASE(weights_and_products_in_bfloat16_err_only_by_their_rounding) {
  // Rounding of the weight; of both factors.
  const std::pair<weft::precision, double> precisions[]{
      {weft::precision::bfloat16, 0x1p-8},
      {weft::precision::bfloat16_products, 0x1p-7 + 0x1p-16},
      {weft::precision::q8_0, 0x1p-8 * 1.148},
      {weft::precision::q4_0, 0x1p-3 + 0x1p-11}};
  weft::kernels::on_every_target([&](const auto&) {
    for (const auto& [precision, product] : precisions) {
      net live({.seed = 1}), packed(live.parameters());
      packed.freeze(precision);
      for (const std::size_t rows : {1u, 4u, 5u, 40u}) {
        const auto a = run<"wide">(packed, rows), b = run<"wide">(live, rows);
        BOOST_TEST((a != b));
        for (std::size_t i = 0; i < a.size(); ++i)
          BOOST_TEST(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <=
                     most_by_rounding(live, i / Wide::extent, i % Wide::extent, product,
                                      precision >= weft::precision::q8_0));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(rows_of_products_of_int8_have_the_same_bits_alone_and_among_others) {
  weft::kernels::on_every_target([](const auto&) {
    net packed({.seed = 1});
    packed.freeze(weft::precision::int8_products);
    const auto all = run<"heads">(packed, 40);
    for (const std::size_t rows : {1u, 2u, 3u, 4u, 5u, 8u, 17u}) {
      const auto some = run<"heads">(packed, rows);
      BOOST_TEST(std::equal(some.begin(), some.end(), all.begin()));
    }
  });
}

BOOST_AUTO_TEST_CASE(each_weight_has_the_precision_of_the_first_pattern_that_names_it) {
  using weft::precision, weft::mixed_precision;
  weft::kernels::on_every_target([](const auto&) {
    net all({.seed = 1}), some({.seed = 1});
    for (const auto as : {precision::float32, precision::bfloat16, precision::bfloat16_products,
                          precision::q8_0, precision::q4_0, precision::int8_products}) {
      for (const std::size_t rows : {1u, 5u}) {
        all.freeze(as);
        some.freeze(mixed_precision{precision::q4_0, {{"wide.*", as}}});
        BOOST_TEST((run<"wide">(some, rows) == run<"wide">(all, rows)));
        some.freeze(mixed_precision{as});
        BOOST_TEST((run<"heads">(some, rows) == run<"heads">(all, rows)));
        BOOST_TEST((run<"each">(some, rows) == run<"each">(all, rows)));
        net other(weft::sharing(some));
        BOOST_TEST((run<"heads">(other, rows) == run<"heads">(some, rows)));
        some.freeze(precision::stored);
        all.freeze();
        BOOST_TEST((run<"heads">(some, rows) == run<"heads">(all, rows)));
        some.freeze(mixed_precision{as, {{"*ide*", precision::float32}, {"wide.weight", as}}});
        BOOST_TEST((run<"wide">(some, rows) == run<"wide">(all, rows)));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(a_pattern_that_names_no_parameter_is_refused) {
  net n({.seed = 1});
  const auto before = run<"wide">(n, 5);
  BOOST_CHECK_EXCEPTION(
      n.freeze(weft::mixed_precision{weft::precision::q8_0, {{"wides.*", weft::precision::q4_0}}}),
      weft::error, [](const weft::error& e) {
        return e.what() == std::string("freeze: no parameter of the model is named 'wides.*'");
      });
  BOOST_TEST((run<"wide">(n, 5) == before));
}

BOOST_AUTO_TEST_CASE(changed_parameters_take_effect_when_frozen_again) {
  net live({.seed = 1}), packed(weft::parameters<layers>({.seed = 1}));
  packed.freeze();
  const auto before = run<"wide">(packed, 9);
  for (net* const n : {&live, &packed})
    n->parameters().get<"wide.weight", Wide, Embed>()(3, 4) += 1;
  BOOST_TEST((run<"wide">(live, 9) != before));
  BOOST_TEST((run<"wide">(packed, 9) == before));
  packed.freeze();
  BOOST_TEST((run<"wide">(packed, 9) == run<"wide">(live, 9)));
}

BOOST_AUTO_TEST_CASE(parameters_are_packed_into_memory_of_the_caller) {
  net live({.seed = 1}), packed(live.parameters());
  const auto bytes = weft::allocate(net::packed_bytes());
  const std::span<std::byte> memory(bytes.get(), net::packed_bytes());
  packed.freeze(memory);
  BOOST_TEST((run<"heads">(packed, 9) == run<"heads">(live, 9)));
  std::fill(memory.begin(), memory.end(), std::byte{0});
  const auto zeros = run<"heads">(packed, 9);
  BOOST_TEST(std::all_of(zeros.begin(), zeros.end(), [](float x) { return x == 0; }));
  BOOST_CHECK_THROW(packed.freeze(memory.first(memory.size() - 1)), weft::error);
  BOOST_CHECK_THROW(packed.freeze(memory.subspan(4)), weft::error);
}

BOOST_AUTO_TEST_CASE(modules_share_packed_weights) {
  net first({.seed = 1});
  net live(weft::sharing(first));
  BOOST_TEST((run<"heads">(live, 9) == run<"heads">(first, 9)));
  for (const auto p : {weft::precision::float32, weft::precision::bfloat16, weft::precision::q8_0,
                       weft::precision::q4_0, weft::precision::int8_products}) {
    first.freeze(p);
    net second(weft::sharing(first));
    BOOST_TEST((run<"heads">(second, 9) == run<"heads">(first, 9)));
  }
  net second(weft::sharing(first));
  const auto before = run<"heads">(second, 9);
  for (float& w : first.parameters().find("wide.weight").values) w = -w;
  first.freeze(weft::precision::bfloat16);
  BOOST_TEST((run<"heads">(first, 9) != before));
  BOOST_TEST((run<"heads">(second, 9) == before), "it keeps what was shared");
}

template <std::size_t Most, bool Transposed = false>
struct bounded {
  struct Row : weft::axis<weft::up_to<Most>> {};
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Row, Embed>();
    auto w = s.param<"wide.weight", Wide, Embed>();
    auto y = weft::dot<Embed>(x, w);
    if constexpr (Transposed)
      return weft::results(weft::as<"y">(weft::dot<Wide>(y, w)));
    else
      return weft::results(weft::as<"y">(y));
  }
};

BOOST_AUTO_TEST_CASE(modules_of_models_with_other_bounds_share_packed_weights) {
  const std::vector<float> x(Embed::extent, 0.5f);
  const auto run = [&](auto& net) {
    const auto y = net(weft::arg<"x">(x)).template get<"y">();
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  for (const auto p : {weft::precision::float32, weft::precision::bfloat16, weft::precision::q8_0,
                       weft::precision::q4_0, weft::precision::int8_products}) {
    weft::module<bounded<9>> many({.seed = 1});
    many.freeze(p);
    weft::module<bounded<1>> one(weft::sharing(many));
    BOOST_TEST((run(one) == run(many)));
    many.freeze(p);
    BOOST_TEST((run(one) == run(many)));
    // A model that packs the same parameter in two ways.
    BOOST_CHECK_THROW((weft::module<bounded<1, true>>(weft::sharing(many))), weft::error);
  }
}

BOOST_AUTO_TEST_CASE(weights_that_several_threads_pack_have_the_same_bits) {
  // One thread after another; the first packs all that there is.
  const weft::executor threads(3, [](int n, weft::job f) {
    for (int i = 0; i < n; ++i) f(i);
  });
  for (const auto p : {weft::precision::float32, weft::precision::bfloat16, weft::precision::q8_0,
                       weft::precision::q4_0, weft::precision::int8_products}) {
    net one({.seed = 1}), many({.seed = 1});
    many.run_on(threads);
    for (net* const n : {&one, &many}) n->freeze(p);
    BOOST_TEST((run<"heads">(one, 9) == run<"heads">(many, 9)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
