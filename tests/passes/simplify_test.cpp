// Fewer nodes, the same results.
#include "weft/passes/simplify.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "examples/char_lm/model.hpp"
#include "passes/graphs.hpp"
#include "support/operands.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::testing::count, weft::testing::kept, weft::testing::output_node;
using weft::testing::operand_of;

struct Rows : weft::axis<3> {};
struct Again : weft::axis<3> {};
struct Third : weft::axis<3> {};
struct HeadDim : weft::axis<64> {};
struct Pos : weft::axis<weft::up_to<9>> {};

template <class Model>
constexpr weft::graph simplified() {
  return weft::simplify(weft::trace<Model>());
}
// Whether nothing is left but one input, which is the result.
template <class Model>
constexpr bool is_input() {
  const weft::graph g = simplified<Model>();
  return output_node(g).kind == op::input && g.count == 1;
}

struct equal_nodes {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, HeadDim>();
    auto y = s.input<"y", float, Rows, HeadDim>();
    return exp(x + y) * 2 + exp(y + x) * 2;  // addition commutes
  }
};
static_assert(count(weft::trace<equal_nodes>(), op::exp) == 2);
static_assert(count(simplified<equal_nodes>(), op::exp) == 1);
static_assert(count(simplified<equal_nodes>(), op::add) == 2);
static_assert(count(simplified<equal_nodes>(), op::multiply) == 1);
static_assert(count(simplified<equal_nodes>(), op::constant) == 1);

struct unequal_nodes {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, HeadDim>();
    auto y = s.input<"y", float, HeadDim>();
    return weft::results(weft::as<"a">(x - y), weft::as<"b">(y - x), weft::as<"c">(x / y),
                         weft::as<"d">(y / x), weft::as<"e">(x + y), weft::as<"f">(y + x),
                         weft::as<"g">(weft::sum<Rows>(x)), weft::as<"h">(weft::sum<HeadDim>(x)),
                         weft::as<"i">(x * 2), weft::as<"j">(x * 3));
  }
};
static_assert(count(simplified<unequal_nodes>(), op::subtract) == 2);
static_assert(count(simplified<unequal_nodes>(), op::divide) == 2);
static_assert(count(simplified<unequal_nodes>(), op::add) == 2, "their axes' orders differ");
static_assert(count(simplified<unequal_nodes>(), op::sum) == 2);
static_assert(count(simplified<unequal_nodes>(), op::multiply) == 2);

struct scaled {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, HeadDim>() / weft::sqrt(HeadDim{});
  }
};
static_assert(count(simplified<scaled>(), op::length) == 0);
static_assert(count(simplified<scaled>(), op::sqrt) == 0);
static_assert(count(simplified<scaled>(), op::constant) == 1);
static_assert(simplified<scaled>().count == 3);
constexpr double scale() {
  const weft::graph g = simplified<scaled>();
  return weft::constant_value(g.nodes[operand_of(output_node(g), 1)]);
}
static_assert(scale() == 8);

struct scaled_by_a_length {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Pos>() / weft::sqrt(Pos{});
  }
};
static_assert(count(simplified<scaled_by_a_length>(), op::length) == 1, "known at run time");
static_assert(count(simplified<scaled_by_a_length>(), op::sqrt) == 1);

struct folded {
  constexpr auto operator()(weft::scope s) const {
    using weft::constant;
    return s.input<"x", float, Rows>() *
           ((constant(2.0f) + constant(3.0f)) * constant(4.0f) / constant(8.0f) - -constant(0.5f));
  }
};
constexpr double folded_to() {
  const weft::graph g = simplified<folded>();
  return g.count == 3 ? weft::constant_value(g.nodes[operand_of(output_node(g), 1)]) : -1;
}
static_assert(folded_to() == 3);

// Constants at the limit of int32 and beyond it: a sum, and a conversion.
template <bool Largest>
struct at_the_limit {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", std::int32_t, Rows>() + (weft::constant(2147483646) + (Largest ? 1 : 2));
  }
};
static_assert(simplified<at_the_limit<true>>().count == 3);
struct cast_beyond_the_limit {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", std::int32_t, Rows>() + weft::cast<std::int32_t>(weft::constant(3e9f));
  }
};

struct neutral {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return 0 + ((1 * (x * 1) / 1) + 0 - 0);
  }
};
static_assert(is_input<neutral>());
struct negated_twice {
  constexpr auto operator()(weft::scope s) const { return -(-s.input<"x", float, Rows>()); }
};
static_assert(is_input<negated_twice>());
struct the_same_element {
  constexpr auto operator()(weft::scope s) const {
    return weft::cast<float>(weft::broadcast<Rows>(s.input<"x", float, Rows>()));
  }
};
static_assert(is_input<the_same_element>());
struct either {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return where(weft::positions<Rows>() < 2, x, x);
  }
};
static_assert(is_input<either>());
// An unused input stays in the graph, so that a run takes the same arguments after this pass.
struct chosen_by_an_input {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return where(s.input<"c", bool, Rows>(), x, x);
  }
};
static_assert(output_node(simplified<chosen_by_an_input>()).kind == op::input);
static_assert(simplified<chosen_by_an_input>().input_count == 2);
struct there_and_back {
  constexpr auto operator()(weft::scope s) const {
    using weft::rename;
    auto x = s.input<"x", float, Rows>();
    return rename<Third, Rows>(rename<Again, Third>(rename<Rows, Again>(x)));
  }
};
static_assert(is_input<there_and_back>());

struct far_away {
  constexpr auto operator()(weft::scope s) const {
    return weft::rename<Again, Third>(weft::rename<Rows, Again>(s.input<"x", float, Rows>()));
  }
};
static_assert(count(simplified<far_away>(), op::rename) == 1);
static_assert(output_node(simplified<far_away>()).axes.at[0] == &weft::info_of<Third>);

// Operands that look like identity elements and are not.
struct not_neutral {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return weft::results(weft::as<"a">(1 / x), weft::as<"b">(0 - x), weft::as<"c">(x * 0),
                         weft::as<"d">(weft::broadcast<Again>(x)));
  }
};
static_assert(count(simplified<not_neutral>(), op::divide) == 1);
static_assert(count(simplified<not_neutral>(), op::subtract) == 1);
static_assert(count(simplified<not_neutral>(), op::multiply) == 1);
static_assert(count(simplified<not_neutral>(), op::copy) == 1);

// Nothing here may be simplified: the result would differ where x or y is NaN or infinite.
struct not_the_same_for_nan {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    auto y = s.input<"y", float, Rows>();
    return weft::results(weft::as<"a">(x == x), weft::as<"b">(x != x), weft::as<"c">(x <= x),
                         weft::as<"d">(!(x < y)), weft::as<"e">(y <= x), weft::as<"f">(x - x),
                         weft::as<"g">(x / x), weft::as<"h">(0 * x),
                         weft::as<"i">(where(x == y, x, y)));
  }
};
static_assert(count(simplified<not_the_same_for_nan>(), op::equal) == 2);
static_assert(count(simplified<not_the_same_for_nan>(), op::not_equal) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::less_equal) == 2);
static_assert(count(simplified<not_the_same_for_nan>(), op::less) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::logical_not) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::subtract) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::divide) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::multiply) == 1);
static_assert(count(simplified<not_the_same_for_nan>(), op::where) == 1);

// Arithmetic whose result is NaN is not a constant expression, so the pass must not evaluate it.
struct constants_without_value {
  constexpr auto operator()(weft::scope) const {
    using weft::as, weft::constant, weft::infinity;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    return weft::results(as<"difference">(constant(infinity) - constant(infinity)),
                         as<"product">(constant(0.0f) * constant(infinity)),
                         as<"sum">(constant(nan) + constant(1.0f)),
                         as<"infinite">(constant(infinity) + constant(1.0f)),
                         as<"root">(sqrt(constant(infinity))),
                         as<"true">(weft::cast<bool>(constant(nan))));
  }
};

struct with_more {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    auto y = s.input<"y", float, Rows>();
    auto p = s.param<"p", Rows>();
    auto q = s.param<"q", Rows>();
    return weft::results(weft::as<"first">(exp(x) + p), weft::as<"second">(tanh(y) * q));
  }
};
constexpr weft::graph only_second() {
  return weft::simplify(weft::keep_outputs(weft::trace<with_more>(), "second"));
}
static_assert(only_second().output_count == 1);
static_assert(count(only_second(), op::exp) == 0, "dead nodes go");
static_assert(only_second().input_count == 1, "and inputs that nothing needs");
static_assert(only_second().name(only_second().inputs[0].name) == "y");
static_assert(only_second().parameter_count == 2, "but all parameters stay");
static_assert(count(only_second(), op::parameter) == 2);

struct rich {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Pos>();
    auto p = s.param<"p", Pos>();
    auto mask = weft::positions<Pos>() < 4;
    auto y = where(mask, x / weft::sqrt(HeadDim{}), -(-p)) * 1 + 0;
    auto z = weft::rename<Again, Rows>(weft::rename<Rows, Again>(y + x)) - (x + y);
    return weft::results(weft::as<"y">(y), weft::as<"z">(z),
                         weft::as<"mean">(weft::mean<Rows, Pos>(y * y + z)));
  }
};

// Slices that cover a parameter, in any order, and slices that do not.
struct Left : weft::axis<2> {};
struct Middle : weft::axis<1> {};
template <bool Whole>
struct sliced {
  constexpr auto operator()(weft::scope s) const {
    auto p = s.param<"p", Pos, HeadDim>();
    struct Rest : weft::axis<61> {};
    auto rest = weft::sum<Pos, Rest>(exp(weft::slice<HeadDim, Rest, 3>(p)));
    auto left = weft::sum<Pos, Left>(exp(weft::slice<HeadDim, Left>(p)));
    auto middle = weft::sum<Pos, Middle>(exp(weft::slice < HeadDim, Middle, Whole ? 2 : 1 > (p)));
    return weft::results(weft::as<"loss">(rest + left + middle));
  }
};
// Slices whose lengths add up to that of the whole, but which overlap and so leave a gap.
struct overlapping {
  constexpr auto operator()(weft::scope s) const {
    struct Half : weft::axis<32> {};
    auto p = s.param<"p", Pos, HeadDim>();
    auto first = weft::sum<Pos, Half>(exp(weft::slice<HeadDim, Half>(p)));
    auto second = weft::sum<Pos, Half>(exp(weft::slice<HeadDim, Half, 31>(p)));
    return weft::results(weft::as<"loss">(first + second));
  }
};
// More slices than a concatenation has operands.
struct in_sixteen_pieces {
  constexpr auto operator()(weft::scope s) const {
    struct Piece : weft::axis<4> {};
    auto p = s.param<"p", Pos, HeadDim>();
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return weft::results(weft::as<"loss">(
          (weft::sum<Pos, Piece>(exp(weft::slice<HeadDim, Piece, 4 * I>(p))) + ...)));
    }
    (std::make_integer_sequence<int, 16>());
  }
};
template <class Model>
constexpr weft::graph simplified_with_gradients() {
  return weft::simplify(weft::differentiate(weft::trace<Model>(), 0));
}
static_assert(count(simplified_with_gradients<sliced<true>>(), op::pad) == 0);
static_assert(count(simplified_with_gradients<sliced<true>>(), op::concatenate) == 1);
static_assert(count(simplified_with_gradients<sliced<false>>(), op::pad) == 3);
static_assert(count(simplified_with_gradients<sliced<false>>(), op::concatenate) == 0);
static_assert(count(simplified_with_gradients<in_sixteen_pieces>(), op::pad) == 16);

}  // namespace

BOOST_AUTO_TEST_SUITE(simplifying)

BOOST_AUTO_TEST_CASE(a_constant_that_does_not_fit_in_int32_is_left_to_the_kernels) {
  BOOST_TEST(kept(simplified<at_the_limit<false>>)->count == 5);
  BOOST_TEST(kept(simplified<cast_beyond_the_limit>)->count == 4);
}

BOOST_AUTO_TEST_CASE(simplification_is_idempotent) {
  const auto once = kept(simplified<rich>);
  const auto twice = kept([&] { return weft::simplify(*once); });
  BOOST_TEST(once->count == twice->count);
}

BOOST_AUTO_TEST_CASE(simplification_preserves_results) {
  namespace reference = weft::reference;
  const auto before = kept(weft::trace<rich>);
  const auto after = kept(simplified<rich>);
  BOOST_TEST(after->count < before->count);
  const auto s = weft::testing::lengths<Pos>(7);
  const weft::testing::expectation given(*before, s);
  const auto all = reference::evaluate(*after, s.lengths, given.given());
  for (const auto* name : {"y", "z", "mean"}) {
    const auto& expected = reference::result(*before, given.values(), name).data;
    const auto& got = reference::result(*after, all, name).data;
    BOOST_TEST_REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-14, name << "[" << i << "]");
  }
}

BOOST_AUTO_TEST_CASE(expressions_that_can_be_nan_are_not_folded) {
  weft::testing::trial<weft::inference<constants_without_value>>();
  weft::testing::settings s;
  s.given["x"] = {std::nan(""), -0.0, std::numeric_limits<double>::infinity()};
  s.given["y"] = {1, 0, std::nan("")};
  weft::testing::trial<weft::inference<not_the_same_for_nan>>(s);
}

struct overflowing {
  constexpr auto operator()(weft::scope s) const {
    const auto n = s.input<"n", std::int32_t>() + (weft::constant(2000000000) + 2000000000);
    const auto x = s.input<"x", float>() + weft::constant(3e38f) * 10.0f;
    return weft::results(weft::as<"n">(n), weft::as<"x">(x));
  }
};
BOOST_AUTO_TEST_CASE(constants_that_overflow_are_left_to_the_kernels) {
  weft::module<overflowing> net;
  const auto y = net(weft::arg<"n">(1), weft::arg<"x">(1.0f));
  BOOST_TEST(y.get<"n">()() == static_cast<std::int32_t>(4000000001U));
  BOOST_TEST(y.get<"x">()() == std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_CASE(gradients_of_slices_with_and_without_gaps_match_the_reference) {
  const auto at = weft::testing::lengths<Pos>(Pos::extent);
  weft::testing::trial<weft::training<sliced<true>, "loss">>(at);
  weft::testing::trial<weft::training<sliced<false>, "loss">>(at);
  weft::testing::trial<weft::training<overlapping, "loss">>(at);
}

BOOST_AUTO_TEST_CASE(simplification_shrinks_a_training_graph_and_keeps_its_outputs) {
  using source = weft::training<char_lm::model<2>, "loss">;
  const auto before = weft::testing::plain_graph<source>();
  const auto after = kept([&] { return weft::simplify(*before); });
  BOOST_TEST(after->count < before->count);
  BOOST_TEST(after->output_count == before->output_count);
  for (int i = 0; i < after->output_count; ++i)
    BOOST_TEST((output_node(*after, i).axes == output_node(*before, i).axes));
}

BOOST_AUTO_TEST_SUITE_END()
