// Caches of bfloat16: states of half the size, which attention reads as they are; and steps of one
// position.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "support/temporary.hpp"
#include "support/trial.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

struct Pos : axis<up_to<20>> {};
struct Cache : axis<up_to<70>> {};
struct Embed : axis<12> {};
struct Heads : axis<3> {};
struct Group : axis<2> {};
struct HeadDim : axis<4> {};
struct Hidden : axis<10> {};
struct axes {
  using cache = Cache;
  using embed = Embed;
  using heads = Heads;
  using group = Group;
  using head_dim = HeadDim;
  using hidden = Hidden;
};

// The attention of a decoder, whose cache is of Element.
template <class Element>
struct decoder {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Pos, Embed>();
    const auto project = [&](auto name) {
      return nn::linear<Embed, shape<Heads, HeadDim>>(s / name, x);
    };
    const auto at = nn::decode_state<Pos>(s / "decoding");
    const auto past =
        nn::kv_cache<Cache, Element>(s / "cache", at, project("key"), project("value"));
    const auto scores = nn::dot_product_score<HeadDim>(project("query"), past.keys);
    const auto y = nn::attention<Cache>(scores, past.values, nn::causal_cache_mask<Cache>(at));
    return results(as<"y">(y.output), as<"loss">(sum<Pos, Heads, HeadDim>(y.output * y.output)));
  }
};
using narrow_decoder = decoder<bfloat16>;

template <bool Narrow>
struct one_block {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Pos, Embed>();
    const auto at = nn::decode_state<Pos>(s / "decoding");
    return nn::causal_block<axes>(s / "block", x, at, {.bfloat16_cache = Narrow});
  }
};

// A step of one position, whose heads of queries that share keys are more than that: the mask is of
// its position all the same, so that keys beyond it are skipped.
struct one_step {
  struct Step : axis<between<1, 1>> {};
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Step, Embed>();
    const auto at = nn::decode_state<Step>(s / "decoding");
    return nn::causal_block<axes>(s, x, at);
  }
};
constexpr bool skips_keys_beyond_the_step() {
  const graph g = inference<one_step>::make();
  for (int i = 0; i < g.count; ++i)
    if (g.nodes[i].kind == op::attention)
      return testing::has_optional(g.nodes[i], role::offset) && band_highest(g.nodes[i]) == 0;
  return false;
}
static_assert(skips_keys_beyond_the_step());

// What else may be done with elements of 16 bits.
struct moved {
  struct Place : axis<9> {};
  struct KeyPlace : alias<Place> {};
  struct Both : axis<18> {};
  struct Few : axis<4> {};

  constexpr auto operator()(scope s) const {
    const auto kept = s.state<"kept", bfloat16, Place, Embed>();
    const auto x = s.input<"x", bfloat16, Place, Embed>();
    const auto chosen = where(s.input<"choice", bool, Place>(), x, kept);
    s.update(kept, chosen);
    const auto both = concatenate<Both, shape<Place, KeyPlace>>(chosen, rename<Place, KeyPlace>(x));
    const auto some = gather<Both>(both, s.input<"at", std::int32_t, Few>());
    return results(as<"y">(cast<float>(broadcast<Heads>(some)) * 2.0f), as<"some">(some),
                   as<"numbers">(cast<std::int32_t>(some)), as<"set">(cast<bool>(some)),
                   as<"back">(cast<bfloat16>(cast<float>(x) * 3)));
  }
};

constexpr bool reads_16_bits() {
  const graph g = inference<narrow_decoder, "y">::make();
  for (int i = 0; i < g.count; ++i) {
    const node& n = g.nodes[i];
    if (n.kind == op::cast && n.type == dtype::float32) return false;
    if (n.kind != op::attention) continue;
    if (g.nodes[find_operand(n, role::key)].type != dtype::bfloat16) return false;
    if (g.nodes[find_operand(n, role::value)].type != dtype::bfloat16) return false;
  }
  return true;
}
static_assert(reads_16_bits());
static_assert(cost<narrow_decoder, "y">.state_bytes < cost<decoder<float>, "y">.state_bytes);

std::vector<float> some_floats(std::size_t size) {
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = std::sin(static_cast<float>(i));
  return x;
}

template <class Net>
std::vector<float> run_in_parts(Net& net, const std::vector<float>& x,
                                const std::vector<std::size_t>& parts) {
  std::vector<float> all;
  std::size_t done = 0;
  for (const std::size_t count : parts) {
    const auto y = net(arg<"x">(std::span(x).subspan(12 * done, 12 * count)));
    all.insert(all.end(), y.data(), y.data() + y.size());
    done += count;
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(narrow_cache, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(attention_over_a_cache_of_bfloat16_matches_the_reference) {
  for (const int pos : {0, 1, 3, 20}) {
    testing::settings s = testing::lengths<Pos>(pos);
    // Keys and values are rounded by at most 2^-9, and an error of float may change the neighbour.
    s.tolerance = 0x1p-8;
    s.roundings = 0x1p16;  // 2^-8 of the largest element
    for (const double before : {0.0, 1.0, 50.0}) {
      s.given["decoding.length"] = {before};
      testing::trial<inference<narrow_decoder, "y">>(s);
      testing::trial<training<narrow_decoder, "loss">>(s);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_of_one_position_with_shared_keys_matches_the_reference) {
  testing::settings s;
  s.tolerance = 1e-4;
  for (const double before : {0.0, 1.0, 50.0}) {
    s.given["decoding.length"] = {before};
    testing::trial<inference<one_step>>(s);
  }
}

BOOST_AUTO_TEST_CASE(elements_of_bfloat16_are_moved_chosen_and_converted) {
  testing::settings s;
  s.ranges["x"] = s.ranges["kept"] = {-9, 9};
  testing::trial<inference<moved, "y", "some", "numbers", "set", "back">>(s);
}

BOOST_AUTO_TEST_CASE(a_block_with_a_cache_of_bfloat16_is_near_the_one_with_float) {
  const std::vector<float> x = some_floats(12 * 40);
  module<one_block<true>> narrow({.seed = 3});
  module<one_block<false>> wide(narrow.parameters());
  const auto expected = run_in_parts(wide, x, {20, 20});
  const auto whole = run_in_parts(narrow, x, {20, 20});
  narrow.reset();
  const auto parts = run_in_parts(narrow, x, {1, 7, 12, 1, 19});
  float off = 0, apart = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    off = std::max(off, std::abs(whole[i] - expected[i]));
    apart = std::max(apart, std::abs(parts[i] - whole[i]));
  }
  // Keys and values of about 1 are rounded by at most 2^-9, and weighed.
  BOOST_TEST(off < 0x1p-6f);
  BOOST_TEST(off > 0x1p-20f);
  // A rounding that differs in the last bit of a float may change a neighbour.
  BOOST_TEST(apart < 0x1p-7f);
}

BOOST_AUTO_TEST_CASE(states_of_bfloat16_are_listed_saved_and_loaded) {
  const std::vector<float> x = some_floats(12 * 20);
  module<one_block<true>> net({.seed = 3});
  run_in_parts(net, x, {20});
  const auto keys = net.states().find("block.self_attn.keys");
  BOOST_TEST((keys.type == dtype::bfloat16));
  BOOST_TEST(keys.bytes.size() == 70 * 3 * 4 * 2u);
  const testing::temporary path("weft_narrow_cache_test");
  save(net.states(), path);
  BOOST_TEST((tensor_file(path)["block.self_attn.keys"].type == stored_type::bfloat16));
  module<one_block<true>> other(net.parameters());
  load(other.states(), tensor_file(path));
  BOOST_TEST((run_in_parts(net, x, {20}) == run_in_parts(other, x, {20})));
  module<one_block<false>> wide(net.parameters());
  BOOST_CHECK_THROW(load(wide.states(), tensor_file(path)), error);
}

BOOST_AUTO_TEST_SUITE_END()
