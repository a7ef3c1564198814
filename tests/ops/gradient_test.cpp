// The gradients of operations, beyond those of tests/table: of several axes, axis orders and
// lengths.
#include <boost/test/unit_test.hpp>

#include "ops/samples.hpp"
#include "support/axes.hpp"
#include "support/central_differences.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::gradient_trial, weft::testing::lengths, weft::testing::settings,
    weft::testing::weights, weft::testing::One, weft::testing::Two, weft::testing::Three,
    weft::testing::Four, weft::testing::Five, weft::testing::Six, weft::testing::Seven,
    weft::testing::Ten;

struct Rows : weft::axis<3> {};
struct Pos : weft::axis<weft::up_to<6>> {};
struct KeyPos : weft::alias<Pos> {};

struct arithmetic {
  constexpr auto operator()(weft::scope s) const {
    auto p = s.param<"p", Three, Five>();
    auto q = s.param<"q", Five>();
    auto r = s.param<"r", Five, Rows, Three>();
    auto unused = s.param<"unused", Three>();
    constexpr weights w;
    auto mask = weft::positions<Five>() < weft::positions<Three>() + 2;
    auto loss = w(p * r) + w(q * q) + w(where(mask, p, r)) + w(where(mask, q, 0.5f)) +
                w(weft::broadcast<Rows, Two>(q)) + w(2 / p - 3 * r);
    return weft::results(weft::as<"loss">(loss), weft::as<"other">(unused));
  }
};

struct reductions {
  constexpr auto operator()(weft::scope s) const {
    using weft::max, weft::mean, weft::sum;
    auto p = s.param<"p", Three, Five, Two>();
    auto q = s.param<"q", Pos, Three>();
    auto x = s.input<"x", float, Pos>();  // gives a run the length of Pos
    constexpr weights w;
    auto loss = w(q * x) + w(sum<Five>(p)) + w(sum<Two, Three>(p)) + w(max<Three>(p)) +
                w(max<Five, Two>(p)) + w(mean<Two>(p)) + w(mean<Three, Five, Two>(p)) +
                w(sum<Pos>(q)) + w(mean<Pos>(q)) + w(max<Pos>(q)) + w(sum<Three>(q)) +
                w(mean<Pos, Three>(q)) + w(weft::broadcast<KeyPos>(q) * sum<Three>(q));
    return weft::as<"loss">(loss);
  }
};

struct rows {
  constexpr auto operator()(weft::scope s) const {
    using weft::layer_norm, weft::log_softmax, weft::normalize, weft::rms_norm, weft::softmax;
    auto p = s.param<"p", Three, Five, Four>();
    auto gain = s.param<"gain", Five>();
    auto bias = s.param<"bias", Four, Five>();
    auto q = s.param<"q", Pos, KeyPos>();
    auto x = s.input<"x", float, Pos>();
    constexpr weights w;
    auto causal = weft::positions<KeyPos>() <= weft::positions<Pos>();
    auto scores = where(causal, q, -weft::infinity);
    auto loss = w(softmax<Three, Four>(p)) + w(log_softmax<Four, Three>(p)) +
                w(normalize<Three, Four>(p)) + w(layer_norm<Five>(p, gain, bias)) +
                w(rms_norm<Five, Four>(p, bias, {.epsilon = 1e-2})) + w(softmax<KeyPos>(scores)) +
                w(log_softmax<Pos>(q)) + w(q * x) +
                w(exp(p));  // the last makes the loss large enough
    return weft::as<"loss">(loss);
  }
};

struct products {
  constexpr auto operator()(weft::scope s) const {
    using weft::dot;
    auto p = s.param<"p", Three, Five, Two>();
    auto q = s.param<"q", Two, Five>();
    auto r = s.param<"r", Four, Three>();
    auto k = s.param<"k", Pos, One, Two>();
    auto x = s.input<"x", float, Pos>();
    constexpr weights w;
    auto loss = w(dot<Two, Five>(p, q)) + w(dot<Five>(q, p)) + w(dot<Two>(p, q)) +
                w(dot<Three>(r, p)) + w(dot<Three>(p, r)) + w(dot<Five>(p, p)) +
                w(dot<Three, Five, Two>(p, p)) + w(dot<Two>(k, q)) + w(dot<Pos>(k, k)) +
                w(dot<One>(k, weft::rename<Pos, KeyPos>(k))) +
                w(dot<Two>(k, weft::rename<Pos, KeyPos>(k))) + w(dot<Four>(r, dot<Three>(r, p))) +
                w(dot<Pos>(x, k));
    return weft::as<"loss">(loss);
  }
};

struct cuts {
  constexpr auto operator()(weft::scope s) const {
    using weft::merge, weft::rename, weft::slice, weft::split;
    auto p = s.param<"p", Six, Five>();
    auto t = s.param<"t", Pos, Two>();
    auto x = s.input<"x", float, Pos>();
    constexpr weights w;
    auto apart = split<Six, Three, Two>(p);
    auto loss = w(rename<Six, Also>(p)) + w(apart * apart) + w(merge<Ten, Five, Two>(apart)) +
                w(merge<Ten, Two, Five>(apart * 2)) + w(exp(merge<Six, Two, Three>(apart))) +
                w(slice<Six, Four, 2>(p)) + w(exp(slice<Five, Two, 1>(p))) +
                w(slice<Three, Two2>(apart)) + w(rename<Pos, KeyPos>(t) * t) +
                w(merge<Flat, Pos, Two>(exp(t))) + w(slice<Pos, Rest, 2>(t)) +
                w(split<Pos, Pairs, Two2>(t)) + w(slice<Pos, Two2, 1>(sin(t))) + w(t * x);
    return weft::as<"loss">(loss);
  }
  struct Also : weft::axis<6> {};
  struct Flat : weft::axis<weft::up_to<12>> {};
  struct Rest : weft::axis<weft::up_to<4>> {};
  struct Pairs : weft::axis<weft::up_to<3>> {};
  struct Two2 : weft::axis<2> {};
};

struct joins {
  constexpr auto operator()(weft::scope s) const {
    using weft::concatenate, weft::shape;
    auto a = s.param<"a", Three, Two>();
    auto b = s.param<"b", Two, Four>();
    auto c = s.param<"c", Pos, Two>();
    auto d = s.param<"d", Two, Past>();
    auto x = s.input<"x", float, Past, Pos>();
    constexpr weights w;
    auto loss = w(concatenate<Seven, shape<Three, Four>>(a, b)) +
                w(exp(concatenate<Ten, shape<Four, Three, Three>>(b, a, exp(a)))) +
                w(concatenate<All, shape<Past, Pos>>(d, c)) +
                w(exp(concatenate<More, shape<Pos, Three, Past>>(c, a, d))) +
                w(concatenate<Led, shape<Three, Pos>>(a, sin(c))) + w(weft::dot<Past>(x, d));
    return weft::as<"loss">(loss);
  }
  struct Past : weft::axis<weft::up_to<4>> {};
  struct All : weft::axis<weft::up_to<10>> {};
  struct More : weft::axis<weft::up_to<13>> {};
  struct Led : weft::axis<weft::up_to<9>> {};
};

struct picks {
  constexpr auto operator()(weft::scope s) const {
    using weft::gather;
    auto tokens = s.input<"tokens", std::int32_t, Three, Pos>();
    auto table = s.param<"table", Five, Two>();
    auto turned = s.param<"turned", Two, Four, Five>();
    auto logits = s.param<"logits", Pos, Five>();
    constexpr weights w;
    auto loss = w(gather<Five>(table, tokens)) + w(exp(gather<Five>(turned, tokens))) +
                w(weft::cross_entropy<Five>(logits, tokens)) +
                w(gather<Five>(table, tokens * 2 - 1)) + w(gather<Five>(exp(logits), tokens));
    return weft::as<"loss">(loss);
  }
};

struct segments {
  constexpr auto operator()(weft::scope s) const {
    using weft::positions, weft::segment_sum;
    auto turned = s.param<"turned", Two, Four, Five>();
    auto logits = s.param<"logits", Pos, Five>();
    auto indices = s.input<"indices", std::int32_t, Pos>();
    constexpr weights w;
    auto loss = w(segment_sum<Four, Three>(turned, positions<Four>() * 2 - 1)) +
                w(exp(segment_sum<Pos, Four>(logits, indices)));
    return weft::as<"loss">(loss);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gradients, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(gradients_of_arithmetic_where_and_broadcast_match_central_differences) {
  settings s;
  for (const auto* name : {"p", "q", "r"}) s.ranges[name] = {0.4, 1.6};  // for the divisions
  gradient_trial<arithmetic>(s);
}

BOOST_AUTO_TEST_CASE(gradients_of_reductions_match_central_differences) {
  for (const int pos : {1, 4, 6}) gradient_trial<reductions>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_softmax_and_normalizations_match_central_differences) {
  for (const int pos : {1, 4, 6}) gradient_trial<rows>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_contractions_in_any_axis_order_match_central_differences) {
  for (const int pos : {1, 4, 6}) gradient_trial<products>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_views_match_central_differences) {
  for (const int pos : {4, 6}) gradient_trial<cuts>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_concatenations_match_central_differences) {
  for (const int past : {0, 3})
    for (const int pos : {1, 4, 6}) gradient_trial<joins>(lengths<joins::Past, Pos>(past, pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_gather_match_central_differences) {
  for (const int pos : {1, 4, 6}) gradient_trial<picks>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(gradients_of_segment_sums_match_central_differences) {
  for (const int pos : {0, 1, 4, 6}) {
    auto s = lengths<Pos>(pos);
    s.ranges["indices"] = {0, 4};
    gradient_trial<segments>(s);
  }
}

// A length of 0 leaves nothing to differentiate: every gradient along it is 0.
BOOST_AUTO_TEST_CASE(gradients_at_length_0_match_the_reference) {
  weft::testing::trial<weft::training<products, "loss">>(lengths<Pos>(0));
  weft::testing::trial<weft::training<picks, "loss">>(lengths<Pos>(0));
}

BOOST_AUTO_TEST_SUITE_END()
