#include <boost/test/unit_test.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "kernels/targets.hpp"
#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::says;

struct Rows : weft::axis<3> {};
struct In : weft::axis<5> {};
struct Out : weft::axis<7> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, In>();
    auto y = weft::dot<In>(x, s.param<"layer.weight", Out, In>()) * 2;
    return weft::results(weft::as<"loss">(weft::sum<Rows, Out>(y)), weft::as<"y">(y));
  }
};

struct counter {
  constexpr auto operator()(weft::scope s) const {
    const auto count = (s / "seen").state<"count", std::int32_t, Rows>();
    const auto now = count + s.input<"more", std::int32_t, Rows>();
    s.update(count, now);
    return now;
  }
};

struct waves {
  constexpr auto operator()(weft::scope s) const {
    const auto angles = weft::cast<float>(weft::positions<In>()) * 0.5f;
    return s.input<"x", float, In>() * weft::sin(angles);
  }
};

struct KeyRows : weft::alias<Rows> {};
struct Distance : weft::axis<3> {};
struct biased_attention {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Rows, In>();
    const auto keys = weft::rename<Rows, KeyRows>(x);
    const auto distance = weft::positions<KeyRows>() - weft::positions<Rows>() + 1;
    const auto bias = weft::gather<Distance>(s.param<"table", Distance>(),
                                             weft::minimum(weft::maximum(distance, 0), 2));
    const auto scores =
        where(weft::nn::causal<Rows, KeyRows>(), weft::dot<In>(x, keys) + bias, -weft::infinity);
    return weft::dot<KeyRows>(weft::softmax<KeyRows>(scores), keys);
  }
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

// 2·3·5·7 for the contraction and 21 for the product with 2, which is fused into it; it reads 15
// and 35 floats and writes 21.
static_assert(weft::cost<model, "y">.flops == 2 * 105 + 21);
static_assert(weft::cost<model, "y">.bytes == 4 * (15 + 35 + 21));
static_assert(weft::cost<model, "y">.parameter_bytes == 192);  // 140, in cache lines of 64
static_assert(weft::cost<model, "y">.operations == 1);
static_assert(weft::cost<model>.flops == weft::cost<model, "y">.flops + 21);
static_assert(weft::cost<waves>.flops == 5 && weft::cost<waves>.once.flops == 2 * 5);
static_assert(weft::cost<waves>.operations == 1 && weft::cost<waves>.once_bytes == 64);
static_assert(weft::cost<model>.once.flops == 0 && weft::cost<model>.once_bytes == 0);
static_assert(weft::training_cost<model>.flops > weft::cost<model>.flops);

}  // namespace

BOOST_AUTO_TEST_SUITE(explain, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_line_names_the_operation_its_axes_operands_cost_and_offset) {
  std::ostringstream out;
  weft::explain<model, "y">(out);
  const auto text = lines(out.str());
  BOOST_TEST_REQUIRE(text.size() == 3u);
  BOOST_TEST(
      std::regex_search(
          text[0],
          std::regex(R"(^%\d+ = dot over \[In\] \(x, layer\.weight\) times 2 +\[Rows, Out\] +)"
                     R"(231 flop +284B +workspace \+ \d+$)")),
      text[0]);
  BOOST_TEST(
      std::regex_search(text[1], std::regex(R"(^1 steps, 231flop, 284B moved; parameters 192B)")),
      text[1]);
}

// The flops are of 6 pairs, each with two products of 5, a softmax and the bias.
BOOST_AUTO_TEST_CASE(attention_is_explained_with_its_band_and_relative_bias) {
  std::ostringstream out;
  weft::explain<biased_attention>(out);
  BOOST_TEST(std::regex_search(
                 out.str(),
                 std::regex(R"(attention over \[KeyRows\] \(x, rename\(x\), rename\(x\), relative )"
                            R"(table\) key - query <= 0 origin 1 +\[Rows, In\] +)"
                            R"(156 flop +252B )")),
             out.str());
}

BOOST_AUTO_TEST_CASE(states_are_listed_first) {
  std::ostringstream out;
  weft::explain<counter>(out);
  const auto text = lines(out.str());
  BOOST_TEST_REQUIRE(text.size() > 2u);
  BOOST_TEST(
      std::regex_search(text[0],
                        std::regex(R"(^state seen\.count +\[Rows\] int32 +12B +workspace \+ 0$)")),
      text[0]);
  says(out.str(), "add (seen.count, ");
  says(out.str(), "of it states 64B");
}

BOOST_AUTO_TEST_CASE(invariant_instructions_are_listed_separately) {
  std::ostringstream out;
  weft::explain<waves>(out);
  const auto text = lines(out.str());
  BOOST_TEST_REQUIRE(text.size() == 7u, out.str());
  BOOST_TEST(text[0] == "once:");
  says(text[1], "= positions ");
  says(text[2], "= sin (multiply(");
  BOOST_TEST(text[3] == "in every run:");
  says(text[4], "= multiply (");
  BOOST_TEST(text[5].find("1 steps, 5flop, ") == 0u, text[5]);
  says(text[5], "once 2 steps, 10flop, 64B of the workspace stay");
}

BOOST_AUTO_TEST_CASE(the_last_line_names_the_family_of_every_target) {
  weft::kernels::on_every_target([](const auto&) {
    std::ostringstream out;
    weft::explain<counter>(out);
    const std::string with =
        weft::family() == weft::target_family::fused ? "with fused" : "without fused";
    BOOST_TEST(lines(out.str()).back() == "results: those of processors " + with +
                                              " multiply-add (" + std::string(weft::target_name()) +
                                              ")");
  });
}

BOOST_AUTO_TEST_CASE(gradients_are_located_in_the_gradient_block) {
  std::ostringstream out;
  weft::explain_training<model>(out);
  says(out.str(), "gradients + 0");
}

BOOST_AUTO_TEST_CASE(the_graph_after_a_pass_has_a_line_for_each_node) {
  std::ostringstream before, after;
  weft::explain<biased_attention>({.after = "canonicalize-axis-order"}, before);
  says(before.str(), " = softmax(");
  weft::explain<biased_attention>({.after = "fuse-attention"}, after);
  BOOST_TEST(after.str().find(" = softmax(") == std::string::npos, after.str());
  BOOST_TEST(
      std::regex_search(
          after.str(),
          std::regex(R"(%\d+ = attention\(%\d+, %\d+, %\d+, relative %\d+\) )"
                     R"(keys \[KeyRows\] .* key - query <= 0 origin 1: float \[Rows, In\])")),
      after.str());
}

BOOST_AUTO_TEST_CASE(gradients_stand_in_the_graph_after_differentiate) {
  std::ostringstream out;
  weft::explain_training<model>({.after = "differentiate"}, out);
  says(out.str(), "gradient of layer.weight = %");
}

BOOST_AUTO_TEST_CASE(an_unknown_pass_is_refused_by_an_error_that_names_the_passes) {
  std::ostringstream out;
  BOOST_CHECK_EXCEPTION(
      weft::explain<counter>({.after = "inline"}, out), weft::error, [](const weft::error& e) {
        return std::string(e.what()).find("no pass inline, but remove-dropout simplify") !=
               std::string::npos;
      });
}

struct named_twice {
  constexpr auto operator()(weft::scope s) const { return s.param<"w", In>() + s.param<"w", In>(); }
};
struct not_constexpr {
  auto operator()(weft::scope s) const { return s.param<"w", In>(); }
};
BOOST_AUTO_TEST_CASE(the_program_and_the_graphs_of_a_refused_model_are_the_error_in_it) {
  std::ostringstream out;
  weft::explain<named_twice>(out);
  says(out.str(), "param: two parameters have the same name");
  out.str("");
  weft::explain<named_twice, "result">({.after = "simplify"}, out);
  weft::explain_training<named_twice>({.after = "simplify"}, out);
  says(out.str(), "in s / \"layers\" / i w\nparam: two parameters");
  out.str("");
  weft::explain<not_constexpr>(out);
  says(out.str(), "model: its operator() is not evaluated while compiling");
}

struct scaled {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, In>();
    return x * 0.125f + 1e-5f - x * 3e10f;
  }
};
static_assert(weft::dump<scaled, "remove-dropout">.view().find(" constant 0.125:") !=
              std::string_view::npos);
static_assert(weft::dump<scaled, "remove-dropout">.view().find(" constant 1e-5:") !=
              std::string_view::npos);
static_assert(weft::dump<scaled, "remove-dropout">.view().find(" constant 3e10:") !=
              std::string_view::npos);

// What a compiler can print is what explain prints.
static_assert(weft::dump<counter, "simplify">.view().find(" = state seen.count: int32 [Rows]") !=
              std::string_view::npos);

BOOST_AUTO_TEST_SUITE_END()
