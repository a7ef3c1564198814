// Sums, maxima and means over inner, outer and all axes.
#include "weft/ops/reduce.hpp"

#include <boost/test/unit_test.hpp>

#include "support/axes.hpp"
#include "support/trial.hpp"

namespace {

using weft::testing::lengths, weft::testing::trial, weft::testing::One, weft::testing::Three,
    weft::testing::Seventeen, weft::testing::Hundred;

struct Batch : weft::axis<weft::up_to<4>> {};
struct Pos : weft::axis<weft::up_to<20>> {};

struct fixed {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::max, weft::mean, weft::sum;
    auto x = s.input<"x", float, Three, Seventeen, Hundred>();
    auto y = s.param<"y", Hundred, One, Three>();
    return weft::results(
        as<"inner">(sum<Hundred>(x)), as<"outer">(sum<Three>(x)), as<"middle">(sum<Seventeen>(x)),
        as<"both_ends">(sum<Hundred, Three>(x)), as<"all">(sum<Three, Seventeen, Hundred>(x)),
        as<"one">(sum<One>(y)), as<"max_inner">(max<Hundred>(x)), as<"max_outer">(max<Three>(x)),
        as<"max_two">(max<Seventeen, Three>(x)), as<"max_all">(max<One, Three, Hundred>(y)),
        as<"mean">(mean<Seventeen>(x)), as<"mean_all">(mean<Hundred, One, Three>(y)),
        as<"of_a_product">(sum<Hundred>(x * y)));
  }
};

struct bounded {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::max, weft::mean, weft::sum;
    auto x = s.input<"x", float, Batch, Pos, Seventeen>();
    auto p = s.param<"p", Three, Pos>();
    return weft::results(as<"positions">(sum<Pos>(x)), as<"batches">(sum<Batch>(x)),
                         as<"both">(sum<Pos, Batch>(x)), as<"all">(sum<Batch, Pos, Seventeen>(x)),
                         as<"parameter">(sum<Pos>(p)), as<"max">(max<Pos>(x)),
                         as<"max_all">(max<Seventeen, Pos, Batch>(x)), as<"mean">(mean<Pos>(x)),
                         as<"mean_all">(mean<Batch, Pos, Seventeen>(x)),
                         as<"mean_outer">(mean<Batch, Pos>(x)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reductions)

BOOST_AUTO_TEST_CASE(reductions_over_fixed_axes_match_the_reference) {
  weft::testing::settings s;
  s.ranges["x"] = {0, 1};  // so that sums are not small relative to their terms
  trial<weft::inference<fixed>>(s);
}

// The mean over an empty axis is NaN, the maximum -infinity.
BOOST_AUTO_TEST_CASE(reductions_over_run_time_lengths_match_the_reference) {
  for (const int batch : {0, 1, 4})
    for (const int pos : {0, 1, 9, 20})
      trial<weft::inference<bounded>>(lengths<Batch, Pos>(batch, pos));
}

BOOST_AUTO_TEST_SUITE_END()
