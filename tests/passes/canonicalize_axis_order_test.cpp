// The order of a formula's operands does not change the operations and axes that it lowers to.
#include "weft/passes/canonicalize_axis_order.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::op, weft::shape, weft::testing::lengths, weft::testing::trial;

struct Batch : weft::axis<weft::up_to<3>> {};
struct Pos : weft::axis<5> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<12> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<6> {};
struct Hidden : weft::axis<7> {};

// Attention followed by a linear layer, written with row vectors or with column vectors.
template <bool Columns>
struct layer {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto table = s.param<"table", Pos, Embed>();
    auto times = [](auto k, const auto& left, const auto& right) {
      using K = decltype(k);
      if constexpr (Columns)
        return dot<K>(right, left);
      else
        return dot<K>(left, right);
    };
    auto plus = [](const auto& left, const auto& right) {
      if constexpr (Columns)
        return right + left;
      else
        return left + right;
    };
    auto y = plus(x, table);
    auto q = times(Embed{}, y, s.param<"q", Embed, Heads, HeadDim>());
    auto k = rename<Pos, KeyPos>(times(Embed{}, y, s.param<"k", Embed, Heads, HeadDim>()));
    auto v = rename<Pos, KeyPos>(times(Embed{}, y, s.param<"v", Embed, Heads, HeadDim>()));
    auto weights = softmax<KeyPos>(dot<HeadDim>(q, k) / sqrt(HeadDim{}));
    auto heads = merge<Embed, Heads, HeadDim>(times(KeyPos{}, weights, v));
    auto z = normalize<Embed>(plus(heads, y));
    auto hidden =
        gelu(plus(times(Embed{}, z, s.param<"w", Embed, Hidden>()), s.param<"b", Hidden>()));
    return results(as<"loss">(mean<Batch, Pos, Hidden>(hidden * hidden)), as<"y">(hidden));
  }
};

// The computed operations and their axes, in the order of the formula.
template <class Unit>
std::vector<std::pair<op, std::vector<const weft::axis_info*>>> computed() {
  const auto g = weft::testing::compiled_graph<Unit>();
  std::vector<std::pair<op, std::vector<const weft::axis_info*>>> all;
  for (int i = 0; i < g->count; ++i) {
    const weft::node& n = g->nodes[i];
    if (!is_leaf(n.kind) && !is_view(n.kind))
      all.push_back({n.kind, {n.axes.at, n.axes.at + n.axes.count}});
  }
  return all;
}
template <class One, class Other>
bool compute_the_same() {
  const auto one = computed<One>(), other = computed<Other>();
  return std::is_permutation(one.begin(), one.end(), other.begin(), other.end());
}

// For a layer too deep for useful error bounds: each of its operations adds some epsilons, and the
// normalization divides by deviations that may be small.
weft::testing::settings deep(std::size_t n) {
  auto s = lengths<Batch>(n);
  s.tolerance = 2e-5;
  return s;
}

// A learned token before or after the others.
struct Token : weft::axis<1> {};
struct Tokens : weft::axis<6> {};
template <bool First>
struct with_token {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto token = broadcast<Batch>(s.param<"token", Token, Embed>());
    auto w = s.param<"w", Embed, Hidden>();
    auto all = [&] {
      if constexpr (First)
        return concatenate<Tokens, shape<Token, Pos>>(token, x);
      else
        return concatenate<Tokens, shape<Pos, Token>>(x, token);
    }();
    auto y = tanh(dot<Embed>(exp(all), w));
    return results(as<"sum">(sum<Batch, Tokens, Hidden>(y)), as<"y">(y));
  }
};

// Every view, and every operation with an axis order of its own, of a tensor whose axis order in
// memory differs from that of its type. The results keep the axis order of their types.
struct Between : weft::alias<Pos> {};
struct Half : weft::axis<6> {};
struct Window : weft::axis<3> {};
struct Starts : weft::axis<3> {};
struct Table : weft::axis<4> {};
struct Pairs : weft::axis<3> {};
struct Both : weft::axis<24> {};
struct Before : weft::axis<2> {};
struct With : weft::axis<14> {};
struct views {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto y = tanh(s.param<"table", Pos, Embed>() + x);  // written [Pos, Embed, Batch]
    auto angle = s.param<"angle", Pos, Pairs>();
    auto halves = slice<Embed, Half, 3>(y);
    auto looked = windows<Pos, Starts, Window>(y);
    auto rows = s.input<"rows", std::int32_t, Batch>();
    auto square = slice<Embed, KeyPos, 2>(y);
    auto turned = rename<Between, KeyPos>(rename<KeyPos, Pos>(rename<Pos, Between>(square)));
    auto carried = scan<Pos>(broadcast<Batch, Embed>(constant(0.0f)), y,
                             [](auto h, auto at) { return tanh(h / 2 + at); });
    return results(
        as<"itself">(y), as<"twice">(y + 1), as<"split">(tanh(split<Embed, Heads, HeadDim>(y))),
        as<"merged">(merge<Embed, Heads, HeadDim>(tanh(split<Embed, Heads, HeadDim>(y)))),
        as<"slice">(rotate<Half, Pairs>(halves, cos(angle), sin(angle))),
        as<"windows">(sum<Window>(looked)),
        as<"concatenated">(concatenate<Both, shape<Embed, Embed>>(y, x)),
        as<"led">(concatenate<With, shape<Before, Embed>>(s.param<"before", Before, Pos>(),
                                                          sum<Batch>(y))),
        as<"dropped">(dropout(y, 0.3)), as<"picked">(gather<Pos>(y, rows)),
        as<"largest">(max<Pos>(y)), as<"rows">(softmax<Pos>(y)), as<"all">(carried.all),
        as<"last">(carried.last), as<"turned">(square * turned),
        as<"normal">(normalize<Embed>(y) *
                     sum<Hidden>(dot<Embed>(s.param<"w", Hidden, Embed>(), y))));
  }
};

template <class... Axes>
constexpr auto sum_of_all(const weft::tensor<float, shape<Axes...>>& x) {
  return weft::sum<Axes...>(x);
}

// The same with a loss, for training.
struct trained_views {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    const auto r = views{}(s);
    return hana::unpack(r.items, [](const auto&... item) {
      return results(as<"loss">((... + sum_of_all(item.value * item.value * item.value))));
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(canonicalize_axis_order)

BOOST_AUTO_TEST_CASE(row_and_column_vector_formulas_lower_to_the_same_operations) {
  BOOST_TEST((compute_the_same<weft::inference<layer<false>, "loss">,
                               weft::inference<layer<true>, "loss">>()));
  BOOST_TEST((compute_the_same<weft::training<layer<false>, "loss">,
                               weft::training<layer<true>, "loss">>()));
}

BOOST_AUTO_TEST_CASE(prepending_a_token_lowers_to_the_same_operations_as_appending_it) {
  BOOST_TEST((compute_the_same<weft::inference<with_token<false>, "sum">,
                               weft::inference<with_token<true>, "sum">>()));
}

BOOST_AUTO_TEST_CASE(results_keep_the_axis_order_of_their_types) {
  for (const std::size_t n : {0u, 1u, 3u}) {
    trial<weft::inference<layer<true>, "y">>(deep(n));
    trial<weft::inference<with_token<true>, "y">>(lengths<Batch>(n));
    trial<weft::inference<views>>(lengths<Batch>(n));
  }
}

BOOST_AUTO_TEST_CASE(gradients_match_the_reference) {
  for (const std::size_t n : {1u, 3u}) {
    trial<weft::training<layer<true>, "loss">>(deep(n));
    trial<weft::training<trained_views, "loss">>(lengths<Batch>(n));
  }
}

BOOST_AUTO_TEST_SUITE_END()
