// Renaming, splitting, merging, slicing and concatenation.
#include "weft/ops/view.hpp"

#include <boost/test/unit_test.hpp>

#include "support/axes.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::lengths, weft::testing::trial, weft::testing::One, weft::testing::Two,
    weft::testing::Three, weft::testing::Five, weft::testing::Six, weft::testing::Seventeen;

struct Also : weft::axis<6> {};
struct Fifteen : weft::axis<15> {};
struct Thirty : weft::axis<30> {};
struct Pos : weft::axis<weft::up_to<12>> {};
struct KeyPos : weft::alias<Pos> {};
struct Rows : weft::axis<weft::up_to<4>> {};
struct Flat : weft::axis<weft::up_to<24>> {};
struct Rest : weft::axis<weft::up_to<10>> {};

// Each view as a result, and as the operand of a kernel.
struct cuts {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::merge, weft::rename, weft::slice, weft::split;
    auto x = s.input<"x", float, Six, Seventeen, Five>();
    auto p = s.param<"p", Thirty, Three>();
    auto i = s.input<"i", std::int32_t, Six, Five>();
    auto e = exp(x);                           // stored in the workspace
    auto apart = split<Thirty, Five, Six>(p);  // [Five, Six, Three]
    return weft::results(
        as<"renamed">(rename<Six, Also>(x)), as<"renamed_sum">(rename<Six, Also>(x) + x),
        as<"split">(apart), as<"split_three">(split<Thirty, Two, Three1, Five>(p)),
        as<"split_inner">(split<Six, Three, Two>(e)), as<"split_sum">(apart + weft::cast<float>(i)),
        as<"unit_after">(split<Six, Also, One>(x)), as<"unit_before">(split<Six, One, Also>(e)),
        as<"merged">(merge<Thirty, Five, Six>(apart)),
        as<"merged_turned">(merge<Thirty, Six, Five>(apart)),
        as<"merged_apart">(merge<Fifteen, Five, Three>(apart)),
        as<"merged_ends">(merge<Thirty, Five, Six>(x)),
        as<"merged_ints">(merge<Thirty, Five, Six>(i)), as<"sliced">(slice<Six, Three, 2>(x)),
        as<"sliced_inner">(slice<Five, Two, 3>(e)),
        as<"sliced_sum">(slice<Six, Three>(e) * slice<Thirty, Seventeen, 13>(p)),
        as<"slice_of_split">(slice<Six, Two, 1>(apart)),
        as<"merge_of_slice">(merge<Six, Two, Three>(slice<Six, Two, 1>(apart))),
        as<"sum_of_merge">(weft::sum<Thirty>(merge<Thirty, Six, Five>(apart))));
  }
  struct Three1 : weft::axis<3> {};
};

struct bounded_cuts {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::merge, weft::rename, weft::slice, weft::split;
    auto x = s.input<"x", float, Three, Pos, Two>();
    auto p = s.param<"p", Pos, Five>();
    auto e = exp(x);
    auto rows = split<Pos, Rows, Three1>(e);  // [Three, Rows, Three1, Two]
    return weft::results(
        as<"renamed">(rename<Pos, KeyPos>(x)), as<"rows">(rows),
        as<"row_sums">(weft::sum<Rows>(rows)), as<"flat">(merge<Flat, Pos, Two>(e)),
        as<"flat_parameter">(p * merge<Flat, Pos, Two>(x)),
        as<"flat_turned">(merge<Flat, Pos, Two>(e + p)), as<"fixed_part">(slice<Pos, Two1, 1>(e)),
        as<"rest">(slice<Pos, Rest, 2>(x)), as<"rest_sum">(weft::sum<Rest>(slice<Pos, Rest, 2>(e))),
        as<"rest_of_parameter">(slice<Pos, Rest, 2>(p)),
        as<"all_of_it">(slice<Pos, KeyPos>(p) - 1));
  }
  struct Three1 : weft::axis<3> {};
  struct Two1 : weft::axis<2> {};
};

struct cuts_of_nothing {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::merge, weft::rename;
    auto x = s.input<"x", float, Three, Pos, Two>();
    auto rows = weft::split<Pos, Rows, Three1>(exp(x));
    return weft::results(as<"renamed">(rename<Pos, KeyPos>(x)), as<"rows">(rows),
                         as<"row_sums">(weft::sum<Rows>(rows)),
                         as<"flat">(exp(merge<Flat, Pos, Two>(x))));
  }
  struct Three1 : weft::axis<3> {};
};

// Operands of fixed lengths.
struct joined {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::concatenate, weft::shape;
    auto a = s.input<"a", float, Three, Two, Five>();
    auto b = s.param<"b", Five, Three1, Two>();
    auto c = s.input<"c", float, Two, One, Five>();
    auto i = s.input<"i", std::int32_t, Three>();
    auto j = s.input<"j", std::int32_t, Three1>();
    return weft::results(as<"two">(concatenate<Six, shape<Three, Three1>>(a, b)),
                         as<"three">(concatenate<Seven, shape<Three1, One, Three>>(b, c, a)),
                         as<"ints">(concatenate<Six, shape<Three, Three1>>(i, j)),
                         as<"twice">(concatenate<Six, shape<Three, Three>>(a, exp(a))),
                         as<"sum">(weft::sum<Six>(concatenate<Six, shape<Three1, Three>>(b, a))));
  }
  struct Three1 : weft::axis<3> {};
  struct Seven : weft::axis<7> {};
};

// A cache and new rows; a first token before all others.
struct bounded_joined {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::concatenate, weft::shape;
    auto cache = s.input<"cache", float, Three, Past, Two>();
    auto now = s.input<"now", float, Pos, Three, Two>();
    auto first = s.param<"first", Two, One, Three>();
    auto later = s.param<"later", Later, Three, Two>();
    auto all = concatenate<All, shape<Past, Pos>>(cache, now);
    return weft::results(as<"all">(all), as<"sum">(weft::sum<All>(all)),
                         as<"led">(concatenate<Led, shape<One, Pos>>(first, now)),
                         as<"ended">(concatenate<Led, shape<Pos, One>>(now, exp(first))),
                         as<"three">(concatenate<Most, shape<Pos, One, Past>>(now, first, cache)),
                         as<"parameter">(concatenate<Longer, shape<Past, Later>>(cache, later)));
  }
  struct Past : weft::axis<weft::up_to<8>> {};
  struct All : weft::axis<weft::up_to<20>> {};
  struct Led : weft::axis<weft::up_to<13>> {};
  struct Most : weft::axis<weft::up_to<21>> {};
  struct Later : weft::axis<weft::up_to<4>> {};
  struct Longer : weft::axis<weft::up_to<12>> {};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(views)

BOOST_AUTO_TEST_CASE(views_of_fixed_axes_match_the_reference) {
  trial<weft::inference<cuts>>();
}

BOOST_AUTO_TEST_CASE(views_of_run_time_lengths_match_the_reference) {
  for (const int pos : {3, 6, 12}) trial<weft::inference<bounded_cuts>>(lengths<Pos>(pos));
}

BOOST_AUTO_TEST_CASE(views_of_empty_tensors_match_the_reference) {
  trial<weft::inference<cuts_of_nothing>>(lengths<Pos>(0));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(concatenations)

BOOST_AUTO_TEST_CASE(concatenations_of_fixed_lengths_match_the_reference) {
  trial<weft::inference<joined>>();
}

BOOST_AUTO_TEST_CASE(concatenations_of_run_time_lengths_match_the_reference) {
  using model = bounded_joined;
  for (const int past : {0, 1, 8})
    for (const int pos : {0, 1, 12})
      trial<weft::inference<model>>(lengths<model::Past, Pos>(past, pos));
}

BOOST_AUTO_TEST_SUITE_END()
