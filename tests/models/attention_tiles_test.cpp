// ONNX's Attention, as tests/conformance expresses it, at sizes that span several tiles of the
// kernels: three sequences of 300 queries, heads of 64. Each is fused into one operation that
// stores no scores, and runs on the best target: the tests of the kernels run on every one.
#include <boost/test/unit_test.hpp>

#include "conformance/attention.hpp"
#include "passes/graphs.hpp"
#include "support/trial.hpp"

namespace {

using weft::conformance::attention, weft::conformance::header, weft::testing::settings;

template <const header& H>
void check(settings s = {}) {
  static_assert(weft::conformance::refusal_of_attention(H).empty());
  using source = weft::inference<attention<H>>;
  static_assert(weft::testing::count(source::g.unpack(), weft::op::attention) == 1);
  static_assert(weft::testing::count(source::g.unpack(), weft::op::softmax) == 0);
  s.every_target = false;
  weft::testing::trial<source>(s);
}

// Lengths of the three sequences: all keys, none, and one that ends within a tile.
settings with_lengths(double whole) {
  settings s;
  s.given["nonpad_kv_seqlen"] = {whole, 0, 137};
  return s;
}

constexpr header grouped_with_a_boolean_mask{.op_type = "Attention",
                                             .opset = 23,
                                             .attributes = {},
                                             .inputs = {{"Q", "F32", 4, {3, 2, 300, 64}},
                                                        {"K", "F32", 4, {3, 1, 310, 64}},
                                                        {"V", "F32", 4, {3, 1, 310, 64}},
                                                        {"attn_mask", "BOOL", 4, {3, 1, 300, 310}}},
                                             .outputs = {{"Y", "F32", 4, {3, 2, 300, 64}}}};

constexpr header capped_with_a_bias_for_each_head{
    .op_type = "Attention",
    .opset = 23,
    .attributes = {{"softcap", 1.5, ""}, {"scale", 0.25, ""}},
    .inputs = {{"Q", "F32", 4, {3, 2, 300, 64}},
               {"K", "F32", 4, {3, 2, 310, 64}},
               {"V", "F32", 4, {3, 2, 310, 64}},
               {"attn_mask", "F32", 3, {2, 300, 310}}},
    .outputs = {{"Y", "F32", 4, {3, 2, 300, 64}}}};

constexpr header causal_after_a_past_with_narrow_values{
    .op_type = "Attention",
    .opset = 23,
    .attributes = {{"is_causal", 1, ""}, {"q_num_heads", 2, ""}, {"kv_num_heads", 1, ""}},
    .inputs = {{"Q", "F32", 3, {3, 300, 128}},
               {"K", "F32", 3, {3, 300, 64}},
               {"V", "F32", 3, {3, 300, 40}},
               {"past_key", "F32", 4, {3, 1, 70, 64}},
               {"past_value", "F32", 4, {3, 1, 70, 40}}},
    .outputs = {{"Y", "F32", 3, {3, 300, 80}}}};

constexpr header causal_up_to_lengths{.op_type = "Attention",
                                      .opset = 24,
                                      .attributes = {{"is_causal", 1, ""}},
                                      .inputs = {{"Q", "F32", 4, {3, 2, 300, 64}},
                                                 {"K", "F32", 4, {3, 1, 310, 64}},
                                                 {"V", "F32", 4, {3, 1, 310, 64}},
                                                 {"nonpad_kv_seqlen", "I64", 1, {3}}},
                                      .outputs = {{"Y", "F32", 4, {3, 2, 300, 64}}}};

constexpr header all_at_once{
    .op_type = "Attention",
    .opset = 24,
    .attributes = {{"is_causal", 1, ""}, {"softcap", 2, ""}},
    .inputs = {{"Q", "F32", 4, {3, 2, 300, 64}},
               {"K", "F32", 4, {3, 1, 300, 64}},
               {"V", "F32", 4, {3, 1, 300, 48}},
               {"attn_mask", "F32", 2, {300, 350}},  // the last 20 of the 370 keys are hidden
               {"past_key", "F32", 4, {3, 1, 70, 64}},
               {"past_value", "F32", 4, {3, 1, 70, 48}},
               {"nonpad_kv_seqlen", "I64", 1, {3}}},
    .outputs = {{"Y", "F32", 4, {3, 2, 300, 48}}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_tiles, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(grouped_heads_with_a_boolean_mask_match_the_reference) {
  check<grouped_with_a_boolean_mask>();
}

BOOST_AUTO_TEST_CASE(a_soft_cap_a_scale_and_a_bias_per_head_match_the_reference) {
  check<capped_with_a_bias_for_each_head>();
}

BOOST_AUTO_TEST_CASE(causal_attention_with_a_past_and_narrow_values_matches_the_reference) {
  check<causal_after_a_past_with_narrow_values>();
}

BOOST_AUTO_TEST_CASE(causal_attention_up_to_the_length_of_each_sequence_matches_the_reference) {
  check<causal_up_to_lengths>(with_lengths(310));
}

BOOST_AUTO_TEST_CASE(all_options_combined_match_the_reference) {
  check<all_at_once>(with_lengths(370));
}

BOOST_AUTO_TEST_SUITE_END()
