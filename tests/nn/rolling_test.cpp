// A rolling cache gives for a stream in parts, in memory that does not grow, what attention within
// a window gives for all of it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/encodings.hpp"
#include "support/error_bound.hpp"
#include "support/trial.hpp"

namespace {

using namespace weft;

constexpr std::size_t batch = 2, whole_length = 29;
constexpr int window = 5;

struct Batch : axis<batch> {};
struct Whole : axis<up_to<whole_length>> {};
struct KeyPos : alias<Whole> {};
struct Chunk : axis<up_to<4>> {};
struct Embed : axis<5> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};
template <std::size_t Sinks>
struct recent : nn::rolling<Chunk, window, Sinks> {};

template <class Pos>
constexpr auto embedded(scope s) {
  return s.input<"x", float, Batch, Pos, Embed>();
}
// Turns queries and keys at `at`; attend gives the keys, their values, where they are and the mask.
template <class Pos, class Keys, class Order>
constexpr auto layer(scope s, const auto& before, const Order& order, const auto& at,
                     const auto& where, const auto& mask, const auto& keys_of) {
  using Out = shape<Heads, HeadDim>;
  const auto x = nn::add_positions<Pos, Embed>(s / "embedding", before, order, at);
  const auto q = nn::linear<Embed, Out>(s / "q", x);
  const auto k = nn::linear<Embed, Out>(s / "k", x);
  const auto v = nn::linear<Embed, Out>(s / "v", x);
  const scope own = s / "position";
  const auto turned = order.template key<shape<Heads>, HeadDim>(own, k, at);
  const auto [keys, values] = keys_of(turned, v);
  const auto products =
      nn::dot_product_score<HeadDim>(order.template query<shape<Heads>, HeadDim>(own, q, at), keys);
  const auto scores = products + order.template scores<shape<Heads>, HeadDim>(own, q, where);
  const auto seen = nn::attention<Keys>(scores, values, mask);
  const auto y =
      seen.output + order.template values<shape<Heads>, HeadDim>(own, seen.weights, where);
  return broadcast<Batch, Pos, Heads, HeadDim>(y);  // the axes in the same order
}

template <class Order, int Sinks = 0>
struct whole {
  constexpr auto operator()(scope s) const {
    const auto mask =
        positions<KeyPos>() <= positions<Whole>() &&
        (positions<KeyPos>() > positions<Whole>() - window || positions<KeyPos>() < Sinks);
    return layer<Whole, KeyPos>(
        s, embedded<Whole>(s), Order{}, positions<Whole>(),
        nn::positions_in_attention<Whole, KeyPos>(positions<Whole>()), mask,
        [](const auto& k, const auto& v) {
          return nn::cached_rows{rename<Whole, KeyPos>(k), rename<Whole, KeyPos>(v)};
        });
  }
};
template <class Order, int Sinks = 0>
struct in_parts {
  constexpr auto operator()(scope s) const {
    using Ring = recent<Sinks>;
    const auto count = s.input<"count", std::int32_t, Batch>();
    const auto at = nn::rolling_state<Ring, Batch>(s / "stream", count);
    return layer<Chunk, Ring>(s, embedded<Chunk>(s), Order{}, nn::position_ids(at),
                              nn::positions_in_attention<Chunk, Ring>(at),
                              nn::causal_cache_mask<Ring>(at), [&](const auto& k, const auto& v) {
                                const auto past = nn::rolling_cache<Ring>(s / "cache", at, k, v);
                                return nn::cached_rows{past.keys, past.values};
                              });
  }
};

// The whole in double precision, and the bound of the errors of float32.
template <class Order, int Sinks>
class expected {
 public:
  explicit expected(const parameter_block& p) {
    const auto g = weft::testing::plain_graph<inference<whole<Order, Sinks>>>();
    reference::lengths of;
    of.set<Whole>(whole_length);
    reference::bindings given;
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = std::sin(static_cast<float>(i * i % 1009));
    given.inputs["x"].assign(x.begin(), x.end());
    for (std::size_t i = 0; i < p.count(); ++i)
      given.parameters[std::string(p[i].name)].assign(p[i].values.begin(), p[i].values.end());
    const auto [all, bounds] = weft::testing::evaluate_with_bounds(*g, of, given);
    result = reference::result(*g, all).data;
    bound = bounds[static_cast<std::size_t>(g->outputs[0].node)];
    const auto [least, most] = std::minmax_element(result.begin(), result.end());
    BOOST_TEST_REQUIRE(bound < 0.01 * std::max(-*least, *most));
  }

  array<float, Batch, Whole, Embed> x{whole_length};
  std::vector<double> result;
  double bound = 0;
};

// Frames of 0 to 4 positions, other ones in each stream.
template <class Order, int Sinks = 0>
class streams {
 public:
  using model = in_parts<Order, Sinks>;
  streams() : net(small()), all(net.parameters()) {}

  // The greatest difference from the whole over its length, in error bounds.
  double run(unsigned seed) {
    double most = 0;
    while (*std::min_element(done, done + batch) < whole_length) {
      std::int32_t count[batch]{};
      array<float, Batch, Chunk, Embed> part(4);
      for (std::size_t b = 0; b < batch; ++b) {
        seed = seed * 1664525 + 1013904223;
        count[b] = static_cast<std::int32_t>(
            std::min<std::size_t>((seed >> 16) % 5, whole_length - done[b]));
        for (std::size_t p = 0; p < static_cast<std::size_t>(count[b]); ++p)
          for (std::size_t e = 0; e < Embed::extent; ++e) part(b, p, e) = all.x(b, done[b] + p, e);
      }
      const auto y = net(arg<"x">(part), arg<"count">(count));
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t p = 0; p < static_cast<std::size_t>(count[b]); ++p, ++done[b])
          for (std::size_t i = 0; i < 12; ++i) {
            const double is = y(b, p, i / 4, i % 4);
            const double off = std::abs(is - all.result[(b * whole_length + done[b]) * 12 + i]);
            most = off <= most * all.bound ? most : off / all.bound;
          }
    }
    return most;
  }
  void forget(std::size_t b) {
    net.template reset<Batch>(b);
    done[b] = 0;
  }

  module<model> net;
  expected<Order, Sinks> all;
  std::size_t done[batch]{};

 private:
  static parameters<model> small() {
    parameters<model> p({.seed = 7});  // keeps the error bound tight enough to fail
    for (float& w : p.floats()) w /= 4;
    return p;
  }
};

using rolling_encodings =
    std::tuple<nn::position::none, nn::position::rotary<>, weft::testing::odd_rotary,
               nn::position::learned_rotary<>, nn::position::long_rotary<>, nn::position::shaw<3>,
               nn::position::transformer_xl<>, nn::position::t5<>, nn::position::alibi,
               nn::position::learned_alibi, nn::position::fire<5>, nn::position::sinusoidal,
               nn::position::learned_sinusoidal, nn::position::learned<weft::testing::Longest>>;

// A causal block over a stream, in bfloat16 or not.
struct Features : axis<6> {};
struct Group : axis<2> {};
struct Hidden : axis<7> {};
template <bool Narrow>
struct transformer {
  struct axes {
    using cache = recent<2>;
    using embed = Features;
    using heads = Heads;
    using head_dim = HeadDim;
    using group = Group;
    using hidden = Hidden;
  };
  constexpr auto operator()(scope s) const {
    const auto at = nn::rolling_state<recent<2>, Batch>(s / "stream");
    return nn::causal_block<axes>(s, s.input<"x", float, Batch, Chunk, Features>(), at,
                                  {.bfloat16_cache = Narrow});
  }
};
// The same where a run says what is seen; its scores are within a soft cap.
struct chosen {
  constexpr auto operator()(scope s) const {
    const auto at = nn::rolling_state<recent<2>, Batch>(
        s / "stream",
        nn::rolling_options{s.input<"window", std::int32_t>(), s.input<"sinks", std::int32_t>()});
    return nn::causal_block<transformer<false>::axes>(
        s, s.input<"x", float, Batch, Chunk, Features>(), at, {.soft_cap = 2});
  }
};

// Keys that are turned after the cache, where they are in it: of factors that grow with positions.
struct turned_after {
  constexpr auto operator()(scope s) const {
    const nn::position::xpos<> order;
    const auto x = s.input<"x", float, Batch, Chunk, HeadDim>();
    const auto at = nn::rolling_state<recent<0>, Batch>(s / "stream");
    const auto past = nn::rolling_cache<recent<0>>(s / "cache", at, x, x);
    const auto k = order.key<shape<>, HeadDim>(s, past.keys, past.positions);
    const auto q = order.query<shape<>, HeadDim>(s, x, positions<Chunk>());
    const auto weights = nn::attention_weights<HeadDim, recent<0>>(q, k, past.visible);
    return broadcast<Batch, Chunk, HeadDim>(dot<recent<0>>(weights, past.values));
  }
};
struct turned_whole {
  constexpr auto operator()(scope s) const {
    const nn::position::xpos<> order;
    const auto x = s.input<"x", float, Batch, Whole, HeadDim>();
    const auto k = order.key<shape<>, HeadDim>(s, x, positions<Whole>());
    const auto q = order.query<shape<>, HeadDim>(s, x, positions<Whole>());
    const auto weights = nn::attention_weights<HeadDim, KeyPos>(
        q, rename<Whole, KeyPos>(k), nn::sliding_window<Whole, KeyPos>({.left = window - 1}));
    return dot<KeyPos>(weights, rename<Whole, KeyPos>(x));
  }
};

// A frame of a signal without a period, from position p on.
template <class Last>
array<float, Batch, Chunk, Last> frame(std::size_t p, std::size_t length) {
  array<float, Batch, Chunk, Last> x(length);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t e = 0; e < Last::extent; ++e)
        x(b, i, e) = std::sin(static_cast<float>((p + i) * (p + i) * 7 + e * 5 + b));
  return x;
}
// Results of stream b for `count` positions, in frames of one length.
template <class Model>
std::vector<float> stream_of(module<Model>& net, std::size_t b, std::size_t count,
                             std::size_t length) {
  std::vector<float> all;
  for (std::size_t p = 0; p < count; p += length) {
    const auto y = net(arg<"x">(frame<Features>(p, length)));
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t e = 0; e < Features::extent; ++e) all.push_back(y(b, i, e));
  }
  return all;
}
double greatest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rolling)

BOOST_AUTO_TEST_CASE_TEMPLATE(frames_of_any_size_give_the_results_of_the_whole, Order,
                              rolling_encodings) {
  streams<Order> of;
  BOOST_TEST(of.run(1) <= 1);
  of.forget(1);  // the other stream stays where it is
  BOOST_TEST(of.run(2) <= 1);
  of.net.reset();
  std::fill_n(of.done, batch, 0);
  BOOST_TEST(of.run(3) <= 1);
}

BOOST_AUTO_TEST_CASE(sinks_are_seen_for_ever) {
  streams<nn::position::none, 2> plain;
  BOOST_TEST(plain.run(4) <= 1);
  streams<nn::position::rotary<>, 2> turned;
  BOOST_TEST(turned.run(5) <= 1);
}

BOOST_AUTO_TEST_CASE(positions_beyond_32_bits_give_the_results_of_position_0) {
  streams<nn::position::rotary<>> of;
  for (const std::uint64_t start : {(1ull << 31) - 3, (1ull << 32) - 7, (1ull << 40) + 12345}) {
    of.net.reset();
    std::fill_n(of.done, batch, 0);
    auto length = of.net.state<"stream.length", std::int32_t, Batch>();
    for (std::size_t b = 0; b < batch; ++b) length(b) = static_cast<std::int32_t>(start + b);
    BOOST_TEST(of.run(6) <= 1);
    BOOST_TEST(length(0) == static_cast<std::int32_t>(start + whole_length));
  }
}

// So what holds for the first rounds holds for ever.
BOOST_AUTO_TEST_CASE(states_but_the_position_come_back_after_two_rounds) {
  module<transformer<false>> net({.seed = 3});
  const auto x = frame<Features>(0, 1);
  constexpr std::size_t ring = recent<2>::ring;
  for (std::size_t i = 0; i < 3 * ring + 2; ++i) net(arg<"x">(x));
  const std::int32_t before = net.state<"stream.next", std::int32_t, Batch>()(1);
  for (std::size_t i = 0; i < 1000 * ring; ++i) net(arg<"x">(x));
  const std::int32_t next = net.state<"stream.next", std::int32_t, Batch>()(1);
  BOOST_TEST(next == before);
  BOOST_TEST(next < static_cast<std::int32_t>(recent<2>::extent + ring));
}

BOOST_AUTO_TEST_CASE(a_causal_block_rolls_and_a_stream_of_nan_recovers_after_its_reset) {
  module<transformer<false>> net({.seed = 3});
  module<transformer<true>> narrow(net.parameters());
  const auto one = stream_of(net, 1, 48, 1);
  net.reset();
  const auto four = stream_of(net, 1, 48, 4);
  BOOST_TEST(greatest_difference(one, four) < 1e-5);
  BOOST_TEST(greatest_difference(one, stream_of(narrow, 1, 48, 3)) < 0.05);

  net.reset();
  auto bad = frame<Features>(0, 3);
  for (std::size_t e = 0; e < Features::extent; ++e)
    bad(0, 1, e) = std::numeric_limits<float>::quiet_NaN();
  net(arg<"x">(bad));
  net.reset<Batch>(1);
  BOOST_TEST((stream_of(net, 1, 48, 4) == four), boost::test_tools::per_element());
  net.reset<Batch>(0);
  const auto again = stream_of(net, 0, 48, 4);
  net.reset();
  BOOST_TEST((again == stream_of(net, 0, 48, 4)), boost::test_tools::per_element());
}

// Its positions are those within what is seen, as Xiao et al. have them.
BOOST_AUTO_TEST_CASE(a_causal_block_gives_what_it_gives_for_what_is_seen_alone) {
  module<chosen> net({.seed = 3});
  for (float& w : net.parameters().floats()) w *= 3;  // scores that depend on where a sink is
  constexpr std::size_t whole = 28;
  for (const std::int32_t sinks : {0, 1, 2})
    for (const std::int32_t seen : {1, 3, 5}) {
      const auto run = [&](std::size_t p, std::size_t length) {
        return net(arg<"x">(frame<Features>(p, length)), arg<"window">(seen), arg<"sinks">(sinks));
      };
      std::vector<float> streamed;
      net.reset();
      for (std::size_t p = 0; p < whole; p += 4) {
        const auto y = run(p, 4);
        for (std::size_t i = 0; i < 4; ++i) streamed.push_back(y(1, i, 3));
      }
      for (std::size_t last = static_cast<std::size_t>(sinks + seen); last < whole; ++last) {
        net.reset();
        for (std::size_t p = 0; p < static_cast<std::size_t>(sinks); ++p) run(p, 1);
        float alone = 0;
        for (std::size_t p = last + 1 - static_cast<std::size_t>(seen); p <= last; ++p)
          alone = run(p, 1)(1, 0, 3);
        BOOST_TEST(std::abs(alone - streamed[last]) < 1e-5f * (1 + std::abs(alone)),
                   sinks << " sinks, a window of " << seen << ", position " << last << ": " << alone
                         << ", " << streamed[last]);
      }
    }
  BOOST_CHECK_EXCEPTION(
      net(arg<"x">(frame<Features>(0, 1)), arg<"window">(6), arg<"sinks">(0)), error,
      [](const error& e) {
        const std::string_view said = e.what();
        BOOST_TEST(said.starts_with("argument 'window': element 0 is 6, and a length of axis"),
                   said);
        BOOST_TEST(said.ends_with("> is at most 5 and not negative"), said);
        return true;
      });
}

BOOST_AUTO_TEST_CASE(keys_are_turned_after_the_cache_where_it_says_that_they_are) {
  module<turned_after> net;
  module<turned_whole> all;
  array<float, Batch, Whole, HeadDim> x(28);
  for (std::size_t p = 0; p < 28; p += 4) {
    const auto part = frame<HeadDim>(p, 4);
    for (std::size_t i = 0; i < batch * 4 * 4; ++i)
      x(i / 16, p + i / 4 % 4, i % 4) = part.data()[i];
  }
  const auto expected = all(arg<"x">(x));
  for (std::size_t p = 0; p < 28; p += 4) {
    const auto y = net(arg<"x">(frame<HeadDim>(p, 4)));
    for (std::size_t i = 0; i < batch * 4 * 4; ++i)
      BOOST_TEST(std::abs(y(i / 16, i / 4 % 4, i % 4) - expected(i / 16, p + i / 4 % 4, i % 4)) <
                 1e-5f);
  }
}

BOOST_AUTO_TEST_CASE(wrong_frames_streams_and_states_are_one_sentence) {
  module<transformer<false>> net;
  const auto says = [](const char* sentence) {
    return [=](const error& e) {
      BOOST_TEST(std::string_view(e.what()) == sentence);
      return true;
    };
  };
  const std::vector<float> five(batch * 5 * Features::extent);
  const view<const float, shape<Batch, Chunk, Features>> frame(five.data(), 5);
  BOOST_CHECK_EXCEPTION(net(arg<"x">(frame)), error,
                        says("argument 'x': axis Chunk has length 5, and may have at most 4"));
  BOOST_CHECK_EXCEPTION(net.reset<Batch>(2), error,
                        says("reset: index 2 of axis Batch, which has 2"));
  net.state<"stream.next", std::int32_t, Batch>()(1) = -1;
  BOOST_CHECK_EXCEPTION(
      net(arg<"x">(::frame<Features>(0, 1))), error,
      says("a computed place is -1, and from there is no room for all rows of a write along axis "
           "recent<2>, whose length is 10, or their count is wrong"));
}

BOOST_AUTO_TEST_SUITE_END()
