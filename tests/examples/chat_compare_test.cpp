// The scores of examples/chat's --compare.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chat/compare.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace {

struct two_layers {
  static constexpr int vocab = 13, embed = 8, kv_heads = 1, group = 2, head_dim = 4, hidden = 8,
                       layers = 2;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{.base = 100};
};
using right_model = chat::reference<two_layers, 4, 10>;
using judged_model = chat::judged<two_layers, 4, 10>;

std::vector<std::int32_t> text() {
  std::vector<std::int32_t> all;
  std::mt19937 random(1);
  for (int i = 0; i < 27; ++i) all.push_back(static_cast<std::int32_t>(random() % 13));
  return all;
}

// The logarithms of the probabilities of the token after each, of a model that is given one token
// at a time.
std::vector<std::vector<double>> log_probabilities(weft::module<right_model::whole>& net,
                                                   const std::vector<std::int32_t>& tokens) {
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (i % 10 == 0) net.reset();
    const auto logits = net(weft::arg<"tokens">(std::span(tokens).subspan(i, 1))).get<"logits">();
    double sum = 0;
    for (std::size_t v = 0; v < 13; ++v) sum += std::exp(static_cast<double>(logits(v)));
    auto& of = all.emplace_back();
    for (std::size_t v = 0; v < 13; ++v)
      of.push_back(static_cast<double>(logits(v)) - std::log(sum));
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chat_compare)

BOOST_AUTO_TEST_CASE(scores_are_those_of_the_tokens_one_by_one) {
  weft::module<right_model> right({.seed = 2});
  for (float& w : right.parameters().floats()) w *= 4;
  right.freeze();
  weft::module<judged_model> net(right.parameters());
  weft::module<right_model::whole> plain(right.parameters()), rounded(right.parameters());
  const auto tokens = text();
  const std::size_t count = tokens.size() - 1;
  const auto p = log_probabilities(plain, tokens);
  for (const auto as : {weft::precision::float32, weft::precision::q4_0}) {
    net.freeze(as), rounded.freeze(as);
    weft::module<judged_model> alone(weft::sharing(net));
    const auto found = chat::compare(right, net, alone, tokens);
    const auto q = log_probabilities(rounded, tokens);
    double loss = 0, divergence = 0, same = 0;
    for (std::size_t i = 0; i < count; ++i) {
      loss -= q[i][static_cast<std::size_t>(tokens[i + 1])];
      for (std::size_t v = 0; v < 13; ++v) divergence += std::exp(p[i][v]) * (p[i][v] - q[i][v]);
      const auto best = [](const auto& of) { return std::ranges::max_element(of) - of.begin(); };
      same += best(p[i]) == best(q[i]);
    }
    const auto n = static_cast<double>(count);
    // Sums of float32 in another order, of logits below 100.
    BOOST_TEST(std::abs(found.loss - loss / n) < 1e-4);
    BOOST_TEST(std::abs(found.divergence - divergence / n) < 1e-4);
    BOOST_TEST(std::abs(found.same - same / n) < 1e-9);
    const bool exact = as == weft::precision::float32;
    for (const auto* const off : {&found.off, &found.off_alone})
      for (const double x : *off) BOOST_TEST((exact ? x == 0 : x > 1e-3 && x < 1), x);
    const auto first = chat::compare(right, net, alone, std::span(tokens).first(11));
    BOOST_TEST(first.off_alone[0] == first.off[0]);
    BOOST_TEST((first.off_alone == found.off_alone));
    BOOST_TEST((exact || first.off_alone[1] != first.off[1]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
