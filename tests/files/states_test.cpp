// States of a module by name: listed, copied, saved and loaded.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::tensor_file, weft::testing::refuses, weft::testing::temporary,
    weft::testing::thrown_by;

// Attention with a cache, for `Step` positions in a run; `seen` is whether there was a run.
template <int Step, int Capacity = 12>
struct decoder {
  struct Pos : weft::axis<weft::up_to<Step>> {};
  struct Cache : weft::axis<weft::up_to<Capacity>> {};
  struct Embed : weft::axis<5> {};
  struct HeadDim : weft::axis<3> {};
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Pos, Embed>();
    auto at = nn::decode_state<Pos>(s / "decoding");
    auto q = nn::linear<Embed, HeadDim>(s / "query", x);
    auto past = nn::kv_cache<Cache>(s / "cache", at, nn::linear<Embed, HeadDim>(s / "key", x),
                                    nn::linear<Embed, HeadDim>(s / "value", x));
    auto seen = s.state<"seen", bool, Embed>();
    s.update(seen, seen || weft::max<Pos>(x) > 0.0f);
    auto weights =
        nn::attention_weights<HeadDim, Cache>(q, past.keys, nn::causal_cache_mask<Cache>(at));
    return weft::results(weft::as<"y">(dot<Cache>(weights, past.values)));
  }
};
using prompt = weft::module<decoder<4>>;
using step = weft::module<decoder<1>>;

template <class Net>
std::vector<float> run(Net& net, std::size_t positions, float first) {
  std::vector<float> x(positions * 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i % 7) / 4;
  const auto y = net(arg<"x">(x)).template get<"y">();
  return {y.data(), y.data() + y.size()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(states)

BOOST_AUTO_TEST_CASE(states_are_listed_by_name) {
  prompt net;
  const auto all = net.states();
  BOOST_TEST(all.count() == 4u);
  const auto keys = all.find("cache.keys");
  BOOST_TEST((keys.type == weft::dtype::float32));
  BOOST_TEST(std::ranges::equal(keys.extents, std::vector<std::size_t>{12, 3}));
  BOOST_TEST(keys.bytes.size() == 12u * 3 * 4);
  BOOST_TEST(all.find("seen").bytes.size() == 5u);
  run(net, 2, 1);
  BOOST_TEST(*reinterpret_cast<const std::int32_t*>(all.find("decoding.length").bytes.data()) == 2);
  BOOST_TEST(thrown_by([&] { all.find("values"); }) ==
             "states: the module has none with the name 'values'");
}

BOOST_AUTO_TEST_CASE(a_conversation_goes_on_in_two_ways_and_with_other_bounds) {
  prompt first({.seed = 1}), second(first.parameters());
  step single(first.parameters());
  run(first, 4, 1);
  second.states().assign(first.states());
  single.states().assign(first.states());
  const auto one = run(first, 1, -2);
  BOOST_TEST((run(second, 1, 3) != one));
  BOOST_TEST((run(single, 1, -2) == one));

  weft::module<decoder<4, 13>> longer(first.parameters());
  refuses([&] { longer.states().assign(first.states()); }, "has other elements or extents");
}

BOOST_AUTO_TEST_CASE(saved_states_are_loaded) {
  const temporary path("weft_states_test");
  prompt first({.seed = 1}), second(first.parameters());
  run(first, 3, 1);
  weft::save(first.states(), path);
  weft::load(second.states(), tensor_file(path));
  BOOST_TEST((run(second, 2, 2) == run(first, 2, 2)));
  // A state that is the result of several runs is another one.
  second.reset();
  BOOST_TEST((run(second, 2, 2) != run(first, 2, 2)));
}

BOOST_AUTO_TEST_CASE(files_of_other_states_are_refused_and_change_nothing) {
  const temporary path("weft_states_test");
  weft::module<decoder<4, 13>> longer({.seed = 1});
  run(longer, 3, 1);
  weft::save(longer.states(), path);
  prompt net({.seed = 1}), same({.seed = 1});
  refuses([&] { weft::load(net.states(), tensor_file(path)); },
          "state 'cache.keys' is F32 [13, 3] in the file, and has the extents [12, 3]");
  BOOST_TEST((run(net, 2, 2) == run(same, 2, 2)));
  weft::save(net, path);
  refuses([&] { weft::load(net.states(), tensor_file(path)); }, "there is no tensor");
}

BOOST_AUTO_TEST_SUITE_END()
