// Indices and lengths: what is used is checked, wherever it comes from, against the run's lengths.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "run/pool.hpp"
#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::refuses, weft::testing::thrown_by, weft::arg, weft::as;
using ints = std::vector<std::int32_t>;
using floats = std::vector<float>;

struct Fixed : weft::axis<10> {};
struct Bounded : weft::axis<weft::up_to<20>> {};
struct Two : weft::axis<2> {};
struct two_tables {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t, Two>();
    return weft::results(
        weft::as<"a">(weft::gather<Fixed>(s.input<"fixed", float, Fixed>(), i)),
        weft::as<"b">(weft::gather<Bounded>(s.input<"bounded", float, Bounded>(), i)));
  }
};

struct Rows : weft::axis<weft::up_to<4>> {};
struct Later : weft::axis<weft::up_to<3>> {};
struct Cells : weft::axis<6> {};
struct Middle : weft::axis<4> {};
struct Inner : weft::axis<3> {};
// Rows 1 and later, cells 2 to 4 in two slices.
struct cut_off {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t, Rows, Cells>();
    const auto part = weft::slice<Cells, Middle, 1>(weft::slice<Rows, Later, 1>(i));
    return weft::gather<Fixed>(s.input<"fixed", float, Fixed>(),
                               weft::slice<Middle, Inner, 1>(part));
  }
};

// Indices that are computed in one way or another: two of them, into a table of 5.
struct Five : weft::axis<5> {};
struct Six : weft::axis<6> {};
template <class Compute>
struct computed {
  constexpr auto operator()(weft::scope s) const {
    const auto i = Compute()(s, s.input<"i", std::int32_t, Two>());
    return weft::gather<Five>(s.input<"table", float, Five>(), i);
  }
};
struct doubled {
  constexpr auto operator()(weft::scope, const auto& i) const { return i * 2; }
};
struct of_floats {
  constexpr auto operator()(weft::scope, const auto& i) const {
    return weft::cast<std::int32_t>(weft::cast<float>(i) * 2.0f);
  }
};
struct from_a_table {
  constexpr auto operator()(weft::scope s, const auto& i) const {
    return weft::gather<Six>(2 * s.input<"of", std::int32_t, Six>(), i);
  }
};
struct chosen {
  constexpr auto operator()(weft::scope, const auto& i) const {
    return weft::where(i > 1, i * 2, i);
  }
};
struct remembered {
  constexpr auto operator()(weft::scope s, const auto& i) const {
    const auto before = s.state<"sum", std::int32_t, Two>();
    s.update(before, before + i);
    return before + i;
  }
};
// Of fixed positions: computed once, before all runs.
struct invariant {
  constexpr auto operator()(weft::scope s) const {
    const auto places = weft::cast<float>(weft::positions<Five>());
    return s.input<"x", float, Two>() +
           weft::gather<Five>(weft::sin(places), weft::positions<Two>() * 5);
  }
};
// Of a length that a run has: an index that no position of the run has is not used.
struct of_positions {
  constexpr auto operator()(weft::scope s) const {
    const auto places = weft::cast<float>(weft::positions<Five>());
    return s.input<"x", float, Rows>() +
           weft::gather<Five>(weft::sin(places), weft::positions<Rows>() * 2);
  }
};
struct in_a_scan {
  constexpr auto operator()(weft::scope s) const {
    const auto table = s.input<"table", float, Five>();
    const auto start = weft::broadcast<Inner>(weft::constant(0.0f));
    return weft::scan<Two>(start, s.input<"i", std::int32_t, Two>(),
                           [&](auto sum, auto i) { return sum + weft::gather<Five>(table, i * 2); })
        .last;
  }
};
struct summed {
  constexpr auto operator()(weft::scope s) const {
    return weft::segment_sum<Two, Five>(s.input<"x", float, Two>(),
                                        s.input<"i", std::int32_t, Two>() * 2);
  }
};
struct written {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t>() * 2;
    return weft::write<Five, Two>(s.input<"table", float, Five>(), s.input<"x", float, Two>(), i);
  }
};
struct counted {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t>() * 2;
    return weft::write<Five, Two>(s.input<"table", float, Five>(), s.input<"x", float, Two>(),
                                  s.input<"at", std::int32_t>(), i);
  }
};
struct learned {
  constexpr auto operator()(weft::scope s) const {
    const auto i = s.input<"i", std::int32_t, Two>() * 2;
    const auto logits = s.param<"logits", Two, Five>(weft::init::ones());
    return weft::results(as<"loss">(weft::mean<Two>(weft::cross_entropy<Five>(logits, i))));
  }
};

const floats table{10, 11, 12, 13, 14};
const auto of_two = [](auto& net, std::int32_t a, std::int32_t b, const auto&... more) {
  return net(arg<"i">(ints{a, b}), arg<"table">(table), more...)(1u);
};

// Lengths of an axis in everything that takes them.
struct Batch : weft::axis<weft::up_to<3>> {};
struct Pos : weft::axis<weft::up_to<8>> {};
struct KeyPos : weft::alias<Pos> {};
struct HeadDim : weft::axis<4> {};
template <class Use>
struct of_lengths {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Batch, Pos>();
    return x + Use()(s, s.input<"n", std::int32_t, Batch>());
  }
};
constexpr auto as_float(const auto& mask) {
  return weft::where(mask, 1.0f, 0.0f);
}
struct valid_lengths {
  constexpr auto operator()(weft::scope, const auto& n) const {
    return as_float(weft::nn::valid<Pos>(n));
  }
};
struct sliced_lengths {
  constexpr auto operator()(weft::scope s, const auto&) const {
    const auto both = s.input<"both", std::int32_t, Two>();
    return weft::sum<One>(as_float(weft::nn::valid<Pos>(weft::slice<Two, One, 1>(both))));
  }
  struct One : weft::axis<1> {};
};
struct mask_of_lengths {
  constexpr auto operator()(weft::scope s, const auto& n) const {
    const auto scores = s.param<"scores", Batch, Pos>();
    return weft::nn::masked_softmax<Pos>(scores, n);
  }
};
struct causal_offset {
  constexpr auto operator()(weft::scope, const auto& n) const {
    return weft::sum<KeyPos>(as_float(weft::nn::causal<Pos, KeyPos>(n)));
  }
};
struct begins {
  constexpr auto operator()(weft::scope, const auto& n) const {
    const auto some =
        weft::nn::segments<Batch, Pos, KeyPos>(n, weft::broadcast<Batch>(weft::constant(2)));
    return weft::cast<float>(some.count);
  }
};
struct ends {
  constexpr auto operator()(weft::scope, const auto& n) const {
    const auto some =
        weft::nn::segments<Batch, Pos, KeyPos>(weft::broadcast<Batch>(weft::constant(0)), n);
    return weft::cast<float>(some.count);
  }
};
struct cache_counts {
  constexpr auto operator()(weft::scope s, const auto& n) const {
    return weft::cast<float>(weft::nn::decode_state<Pos, Batch>(s, n).offset);
  }
};
using all_uses =
    std::tuple<of_lengths<valid_lengths>, of_lengths<mask_of_lengths>, of_lengths<causal_offset>,
               of_lengths<begins>, of_lengths<ends>, of_lengths<cache_counts>>;

// The places of queries among keys.
struct placed {
  constexpr auto operator()(weft::scope s) const {
    const auto q = s.input<"q", float, Pos, HeadDim>();
    const auto k = weft::rename<Pos, KeyPos>(q);
    const auto where =
        weft::nn::positions_in_attention<Pos, KeyPos>(s.input<"at", std::int32_t, Pos>());
    return weft::dot<HeadDim>(q, k) + as_float(weft::positions<KeyPos>() <= where.at);
  }
};

// Sequences padded to one length, whose positions have a table.
struct padded {
  constexpr auto operator()(weft::scope s) const {
    const auto count = s.input<"count", std::int32_t, Batch>();
    const auto at = weft::nn::decode_state<Pos, Batch>(s, count);
    return weft::nn::embedding<Six, HeadDim>(s, weft::nn::position_ids(at)) +
           s.input<"x", float, Pos>();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(indices)

// The bounds are in another order than the lengths of a run.
BOOST_AUTO_TEST_CASE(an_index_into_two_axes_is_checked_against_the_lengths_of_both) {
  weft::module<two_tables> both;
  const floats fixed(10), some(5), all(20);
  const auto run = [&](std::int32_t index, const floats& bounded) {
    both(arg<"i">(ints{0, index}), arg<"fixed">(fixed), arg<"bounded">(bounded));
  };
  run(4, some);
  run(9, all);
  refuses([&] { run(7, some); },
          "argument 'i': element 1 is 7, and an index into axis Bounded is less than 5");
  refuses([&] { run(12, all); }, "an index into axis Fixed is less than 10");
  refuses([&] { run(-1, all); }, "element 1 is -1");
}

BOOST_AUTO_TEST_CASE(what_a_slice_cuts_off_is_no_index) {
  weft::module<cut_off> net;
  weft::array<std::int32_t, Rows, Cells> i(3);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 6; ++c) i(r, c) = r == 0 || c < 2 || c == 5 ? -100 : 1;
  const floats table(10);
  BOOST_TEST(net(arg<"i">(i), arg<"fixed">(table)).size() == 6);
  i(2, 3) = 10;
  refuses([&] { net(arg<"i">(i), arg<"fixed">(table)); },
          "argument 'i': element 15 is 10, and an index into axis Fixed is less than 10");
}

template <class Compute, class... More>
void a_computed_index_is_refused(std::int32_t right, std::int32_t wrong, const std::string& value,
                                 const More&... more) {
  pool p(2);
  weft::module<computed<Compute>> net;
  for (const int threads : {1, 2}) {
    net.run_on(on(p, threads));
    const float before = of_two(net, 0, right, more...);
    net.reset();
    BOOST_TEST(thrown_by([&] { of_two(net, 0, wrong, more...); }) ==
               "a computed index is " + value +
                   ", and an index into axis Five is less than 5 and not negative");
    net.reset();
    BOOST_TEST(of_two(net, 0, right, more...) == before);
    net.reset();
  }
}

BOOST_AUTO_TEST_CASE(a_computed_index_that_lies_outside_throws_and_the_module_stays_usable) {
  a_computed_index_is_refused<doubled>(2, 3, "6");
  a_computed_index_is_refused<doubled>(2, -1, "-2");
  a_computed_index_is_refused<of_floats>(2, 3, "6");
  a_computed_index_is_refused<chosen>(1, 4, "8");
  a_computed_index_is_refused<remembered>(4, 5, "5");
  const ints of{0, 1, 2, 3, 4, -1};
  a_computed_index_is_refused<from_a_table>(2, 5, "-2", arg<"of">(of));
  // The same where it is the index of an index.
  weft::module<computed<from_a_table>> net;
  refuses([&] { of_two(net, 6, 0, arg<"of">(of)); }, "element 0 is 6, and an index into axis Six");
}

BOOST_AUTO_TEST_CASE(a_state_adds_up_to_an_index_that_lies_outside) {
  weft::module<computed<remembered>> net;
  BOOST_TEST(of_two(net, 0, 2) == 12);
  BOOST_TEST(of_two(net, 0, 2) == 14);
  refuses([&] { of_two(net, 0, 2); }, "a computed index is 6");
}

BOOST_AUTO_TEST_CASE(indices_made_of_positions_are_checked_as_far_as_a_run_uses_them) {
  weft::module<of_positions> net;
  const auto run = [&](std::size_t length) {
    const weft::array<float, Rows> x(length);
    net(arg<"x">(x));
  };
  run(3);
  refuses([&] { run(4); }, "a computed index is 6, and an index into axis Five is less than 5");
  run(3);
  weft::module<invariant> all;
  for (int i = 0; i < 2; ++i)
    refuses([&] { all(arg<"x">(floats{1, 2})); }, "a computed index is 5");
}

BOOST_AUTO_TEST_CASE(computed_indices_of_scans_sums_and_writes_are_checked) {
  weft::module<in_a_scan> scan;
  const auto scanned = [&](std::int32_t i) {
    return scan(arg<"i">(ints{i, 0}), arg<"table">(table))(0u);
  };
  BOOST_TEST(scanned(1) == 22);
  refuses([&] { scanned(3); }, "a computed index is 6");
  weft::module<summed> sum;
  const auto sums = [&](std::int32_t i) {
    return sum(arg<"i">(ints{i, 0}), arg<"x">(floats{1, 2}))(4u);
  };
  BOOST_TEST(sums(2) == 1);
  refuses([&] { sums(3); }, "a computed index is 6, and an index into axis Five is less than 5");
  weft::module<written> write;
  const auto start = [&](std::int32_t i) {
    return write(arg<"i">(i), arg<"table">(table), arg<"x">(floats{1, 2}))(2u);
  };
  BOOST_TEST(start(1) == 1);
  for (const std::int32_t wrong : {2, -1})
    refuses([&] { start(wrong); },
            "a computed place is " + std::to_string(2 * wrong) +
                ", and from there is no room for all rows of a write along axis Five, whose length "
                "is 5");
  weft::module<counted> count;
  const auto rows = [&](std::int32_t i) {
    return count(arg<"i">(i), arg<"at">(3), arg<"table">(table), arg<"x">(floats{1, 2}))(4u);
  };
  BOOST_TEST(rows(1) == 2);
  for (const std::int32_t wrong : {2, -1}) refuses([&] { rows(wrong); }, "their count is wrong");
}

BOOST_AUTO_TEST_CASE(a_computed_target_that_is_no_class_updates_no_parameter) {
  weft::trainer<learned> t;
  t.step(arg<"i">(ints{0, 1}));
  const auto all = t.parameters().floats();
  const floats before(all.begin(), all.end());
  refuses([&] { t.step(arg<"i">(ints{0, 3})); }, "a computed index is 6");
  BOOST_TEST(before == floats(all.begin(), all.end()), boost::test_tools::per_element());
  BOOST_TEST(std::isfinite(t.step(arg<"i">(ints{0, 1}))));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(lengths_that_are_an_input_are_those_of_the_axis, Model, all_uses) {
  weft::module<Model> net;
  const weft::array<float, Batch, Pos> x(2, 5);
  const auto run = [&](std::int32_t n) { net(arg<"x">(x), arg<"n">(ints{0, n})); };
  for (const std::int32_t n : {0, 5, 1}) BOOST_TEST(thrown_by([&] { run(n); }) == "");
  for (const std::int32_t n : {6, 8, 99, -1})
    refuses([&] { run(n); },
            "argument 'n': element 1 is " + std::to_string(n) + ", and a length of axis ");
  refuses([&] { run(6); }, "Pos is at most 5 and not negative");
}

BOOST_AUTO_TEST_CASE(a_length_that_a_slice_cuts_off_is_not_asked_about) {
  weft::module<of_lengths<sliced_lengths>> net;
  const weft::array<float, Batch, Pos> x(2, 5);
  const auto run = [&](std::int32_t a, std::int32_t b) {
    return net(arg<"x">(x), arg<"both">(ints{a, b}))(0u, 4u);
  };
  BOOST_TEST(run(-1, 5) == 1);
  refuses([&] { run(0, 6); }, "argument 'both': element 1 is 6");
}

BOOST_AUTO_TEST_CASE(positions_of_padding_may_lie_beyond_their_table) {
  weft::module<padded> net;
  const weft::array<float, Pos> x(4);
  const auto run = [&](std::int32_t a, std::int32_t b) {
    net(arg<"x">(x), arg<"count">(ints{a, b}));
  };
  run(4, 1);
  run(2, 0);  // the padding of the first has the positions 6 and 7
  refuses([&] { run(1, 1); }, "a computed index is 6, and an index into axis Six is less than 6");
}

BOOST_AUTO_TEST_CASE(places_of_queries_are_those_of_keys) {
  weft::module<placed> net;
  const weft::array<float, Pos, HeadDim> q(5);
  const auto run = [&](std::int32_t at) {
    weft::array<std::int32_t, Pos> all(5);
    all(3) = at;
    net(arg<"q">(q), arg<"at">(all));
  };
  run(4);
  for (const std::int32_t wrong : {5, 99, -1})
    refuses([&] { run(wrong); },
            "argument 'at': element 3 is " + std::to_string(wrong) +
                ", and an index into axis KeyPos is less than 5 and not negative");
}

BOOST_AUTO_TEST_SUITE_END()
