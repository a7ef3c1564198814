// Gathering and summing by index.
#include "weft/ops/gather.hpp"

#include <boost/test/unit_test.hpp>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::lengths, weft::testing::settings, weft::testing::trial;

struct Batch : weft::axis<weft::up_to<3>> {};
struct Pos : weft::axis<weft::up_to<20>> {};
struct Vocab : weft::axis<17> {};
struct Embed : weft::axis<100> {};
struct Three : weft::axis<3> {};
struct Half : weft::axis<8> {};
struct Memory : weft::axis<weft::up_to<6>> {};

struct picks {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::gather;
    auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    auto table = s.param<"table", Vocab, Embed>();
    auto turned = s.param<"turned", Three, Embed, Vocab>();
    auto logits = s.input<"logits", float, Pos, Vocab, Batch>();
    auto ints = s.input<"ints", std::int32_t, Vocab, Three>();
    auto flags = s.input<"flags", bool, Vocab>();
    return weft::results(
        as<"rows">(gather<Vocab>(table, tokens)),      // [Batch, Pos, Embed]
        as<"columns">(gather<Vocab>(turned, tokens)),  // [Batch, Pos, Three, Embed]
        as<"matched">(gather<Vocab>(logits, tokens)),  // [Batch, Pos]
        as<"ints">(gather<Vocab>(ints, tokens)), as<"flags">(gather<Vocab>(flags, tokens)),
        as<"part">(gather<Half>(weft::slice<Vocab, Half, 4>(table),
                                weft::minimum(weft::maximum(tokens - 4, 0), 7))),
        as<"computed">(gather<Vocab>(table, 16 - tokens)),
        as<"twice">(gather<Vocab>(table, 16 - gather<Vocab>(ints, tokens))),
        as<"loss">(weft::cross_entropy<Vocab>(logits, tokens)));
  }
};

// From an axis of run-time length.
struct remembered {
  constexpr auto operator()(weft::scope s) const {
    auto which = s.input<"which", std::int32_t, Three>();
    auto memory = s.input<"memory", float, Embed, Memory>();
    return weft::gather<Memory>(memory, which);
  }
};

struct segments {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::segment_sum;
    auto x = s.input<"x", float, Batch, Pos, Three>();
    auto turned = s.input<"turned", float, Three, Batch, Pos>();
    auto of_all = s.input<"of_all", std::int32_t, Pos>();
    auto tokens = s.input<"tokens", std::int32_t, Pos, Batch>();
    auto memory = s.input<"memory", float, Memory>();
    return weft::results(
        as<"one_for_all">(segment_sum<Pos, Vocab>(x, of_all)),  // [Batch, Vocab, Three]
        as<"each_its_own">(segment_sum<Pos, Vocab>(x, tokens)),
        as<"of_rows">(segment_sum<Pos, Vocab>(turned, 16 - tokens)),  // [Three, Batch, Vocab]
        as<"in_one">(segment_sum<Pos, Vocab>(x, weft::positions<Pos>() * 0 + 3)),
        as<"of_parts">(
            segment_sum<Pos, Vocab>(weft::exp(x), weft::minimum(weft::positions<Pos>(), 2))),
        as<"to_a_length">(segment_sum<Pos, Memory>(turned, of_all) + memory));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gathers)

BOOST_AUTO_TEST_CASE(gathered_rows_and_columns_match_the_reference) {
  settings s;
  s.ranges["ints"] = {0, 17};
  s.ranges["logits"] = {-3, 3};
  for (const int pos : {0, 1, 20}) {
    s.lengths = lengths<Batch, Pos>(2, pos).lengths;
    trial<weft::inference<picks>>(s);
  }
  s.lengths = lengths<Batch, Pos>(0, 5).lengths;
  trial<weft::inference<picks>>(s);
}

BOOST_AUTO_TEST_CASE(gathering_from_a_run_time_length_matches_the_reference) {
  for (const int memory : {1, 4, 6}) trial<weft::inference<remembered>>(lengths<Memory>(memory));
}

BOOST_AUTO_TEST_CASE(segment_sums_match_the_reference) {
  for (const int pos : {0, 1, 3, 20}) {
    auto s = lengths<Batch, Pos, Memory>(2, pos, 4);
    s.ranges["of_all"] = {0, 4};
    s.ranges["tokens"] = {0, 17};
    trial<weft::inference<segments>>(s);
  }
}

BOOST_AUTO_TEST_SUITE_END()
