// Runs of a module and their results.
#include "weft/run/module.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "run/classifier.hpp"
#include "weft/run/error.hpp"

namespace {

using weft::arg;
using net = weft::module<classifier, "scaled", "logits">;

template <class View>
std::vector<float> elements(const View& v) {
  std::vector<float> all;
  for (std::size_t b = 0; b < v.template length<Batch>(); ++b)
    for (std::size_t p = 0; p < v.template length<Pos>(); ++p)
      for (std::size_t e = 0; e < v.lengths()[2]; ++e) all.push_back(v(b, p, e));
  return all;
}

template <class Results, weft::fixed_string Name>
concept gives = requires(const Results& r) {
  r.template get<Name>();
};
using results =
    decltype(std::declval<net&>()(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales)));
static_assert(gives<results, "scaled"> && gives<results, "logits">);
static_assert(!gives<results, "loss">, "this module does not compute it");
static_assert(!gives<results, "logit">, "there is none of this name");

}  // namespace

BOOST_AUTO_TEST_SUITE(modules)

BOOST_AUTO_TEST_CASE(results_are_views_with_the_lengths_of_the_run) {
  net n({.seed = 1});
  const auto all = n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  const auto scaled = all.get<"scaled">();
  static_assert(std::is_same_v<decltype(scaled),
                               const weft::view<const float, weft::shape<Batch, Pos, Embed>>>);
  BOOST_TEST(scaled.length<Batch>() == 2u);
  BOOST_TEST(scaled.length<Pos>() == 3u);
  BOOST_TEST(scaled.length<Embed>() == 5u);
  const auto table = n.parameters().get<"table", Vocab, Embed>();
  const auto places = n.parameters().get<"places", Pos, Embed>();
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t e = 0; e < 5; ++e) {
        const auto token = static_cast<std::size_t>(six_tokens[3 * b + p]);
        const float sum = table(token, e) + places(p, e);
        BOOST_TEST(scaled(b, p, e) == sum * five_scales[e]);
        BOOST_TEST(&scaled.at<Batch>(b).at<Pos>(p)(e) == &scaled(b, p, e));
        BOOST_TEST(&scaled.at<Embed>(e)(b, p) == &scaled(b, p, e));
      }
}

BOOST_AUTO_TEST_CASE(lengths_may_change_from_run_to_run) {
  net n({.seed = 1});
  const auto whole =
      elements(n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales)).get<"logits">());
  weft::array<std::int32_t, Batch, Pos> one(1, 1), none(0, 3), short_rows(2, 0);
  one(0u, 0u) = six_tokens[0];
  const auto single = elements(n(arg<"tokens">(one), arg<"scale">(five_scales)).get<"logits">());
  BOOST_TEST_REQUIRE(single.size() == 7u);
  for (std::size_t i = 0; i < 7; ++i) BOOST_TEST(std::abs(single[i] - whole[i]) < 1e-5f);
  BOOST_TEST(n(arg<"tokens">(none), arg<"scale">(five_scales)).get<"logits">().size() == 0u);
  BOOST_TEST(n(arg<"tokens">(short_rows), arg<"scale">(five_scales)).get<"logits">().size() == 0u);
  BOOST_TEST(
      (elements(n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales)).get<"logits">()) ==
       whole));
}

BOOST_AUTO_TEST_CASE(arguments_may_have_any_strides) {
  net n({.seed = 1});
  const auto dense =
      elements(n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales)).get<"logits">());
  std::vector<std::int32_t> columns(12, -7);  // Batch fastest, every second element
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t p = 0; p < 3; ++p) columns[4 * p + 2 * b] = six_tokens[3 * b + p];
  const weft::view<const std::int32_t, weft::shape<Batch, Pos>> turned(columns.data(), {2, 3},
                                                                       {2, 4});
  std::array<float, 5> backwards;
  for (std::size_t e = 0; e < 5; ++e) backwards[4 - e] = five_scales[e];
  const weft::view<const float, weft::shape<Embed>> reversed(backwards.data() + 4, {5}, {-1});
  BOOST_TEST((elements(n(arg<"tokens">(turned), arg<"scale">(reversed)).get<"logits">()) == dense));
}

BOOST_AUTO_TEST_CASE(a_module_may_run_in_memory_of_the_caller) {
  const weft::parameters<classifier> p({.seed = 4});
  const auto memory = weft::allocate(net::workspace_bytes + 64);
  const std::span<std::byte> room(memory.get(), net::workspace_bytes);
  net own(p), lent(p, room);
  const auto a = own(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  const auto b = lent(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  BOOST_TEST((elements(a.get<"logits">()) == elements(b.get<"logits">())));
  const auto* const at = reinterpret_cast<const std::byte*>(b.get<"logits">().data());
  BOOST_TEST((at >= room.data() && at < room.data() + room.size()));
  BOOST_CHECK_THROW(net(p, room.first(net::workspace_bytes - 1)), weft::error);
  BOOST_CHECK_THROW(net(p, std::span(memory.get() + 4, net::workspace_bytes)), weft::error);
}

BOOST_AUTO_TEST_CASE(modules_share_parameters) {
  weft::module<classifier, "scaled"> a({.seed = 1});
  net b(a.parameters());
  const auto given = [&](auto& n) {
    return n(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  };
  BOOST_TEST(
      (elements(given(a).template get<"scaled">()) == elements(given(b).template get<"scaled">())));
  b.parameters().get<"table", Vocab, Embed>()(0u, 1u) = 10;
  const float place = a.parameters().get<"places", Pos, Embed>()(0u, 1u);
  BOOST_TEST(given(a).template get<"scaled">()(0u, 0u, 1u) == (10 + place) * 2);
}

BOOST_AUTO_TEST_SUITE_END()
