// Contraction, in all axis orders.
#include <boost/test/unit_test.hpp>

#include "support/axes.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::One, weft::testing::Three, weft::testing::Seventeen, weft::testing::Hundred;

struct Rows : weft::axis<3> {};
struct Heads : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<20>> {};
struct KeyPos : weft::alias<Pos> {};
struct Batch : weft::axis<weft::up_to<3>> {};

struct products {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::dot;
    auto a = s.input<"a", float, Three, Seventeen, Hundred>();
    auto b = s.param<"b", Hundred, Seventeen>();
    auto c = s.param<"c", Heads, Hundred, Three>();
    auto d = s.input<"d", float, Heads, One>();
    auto e = s.param<"e", Seventeen, One, Three>();
    auto w = weft::rename<Three, Rows>(c);
    return weft::results(as<"one_axis">(dot<Hundred>(a, w)),  // [Three, Seventeen, Heads, Rows]
                         as<"turned">(dot<Hundred>(w, a)),    // [Heads, Rows, Three, Seventeen]
                         as<"two_axes">(dot<Seventeen, Hundred>(a, b)),
                         as<"matched">(dot<Hundred>(a, b)),  // Seventeen is a batch axis
                         as<"matched_and_free">(dot<Hundred>(c, a)),
                         as<"everything">(dot<Three, Seventeen, Hundred>(a, a)),
                         as<"depth_of_one">(dot<One>(d, e)),  // [Heads, Seventeen, Three]
                         as<"matrix_vector">(dot<Hundred>(b, dot<Three, Heads>(c, c))),
                         as<"chain">(dot<Three, Seventeen>(dot<Hundred>(c, b), e)));
  }
};

// Attention's products, at lengths from 0 to the bound.
struct bounded {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::dot, weft::rename;
    auto q = s.input<"q", float, Batch, Pos, Heads, Seventeen>();
    auto k = rename<Pos, KeyPos>(s.input<"k", float, Batch, Heads, Pos, Seventeen>());
    auto p = s.param<"p", Pos, Seventeen>();
    auto scores = dot<Seventeen>(q, k);  // [Batch, Pos, Heads, KeyPos]
    return weft::results(as<"scores">(scores), as<"mixed">(dot<KeyPos>(scores, k)),
                         as<"over_lengths">(dot<Batch, Pos>(q, q)),
                         as<"with_a_parameter">(dot<Pos>(q, p)),
                         as<"all">(dot<Batch, Pos, Heads, Seventeen>(q, q)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(dots)

BOOST_AUTO_TEST_CASE(contractions_of_fixed_axes_in_any_order_match_the_reference) {
  weft::testing::trial<weft::inference<products>>();
}

BOOST_AUTO_TEST_CASE(contractions_of_run_time_lengths_match_the_reference) {
  for (const int batch : {0, 1, 3})
    for (const int pos : {0, 1, 7, 20})
      weft::testing::trial<weft::inference<bounded>>(
          weft::testing::lengths<Batch, Pos>(batch, pos));
}

BOOST_AUTO_TEST_SUITE_END()
