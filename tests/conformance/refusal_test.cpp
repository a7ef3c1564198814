// Headers that ask for what weft does not support: their tests fail with a message.
#include "conformance/check.hpp"

namespace {

using weft::conformance::header;
using weft::conformance::refusal_of;

constexpr header attention{.op_type = "Attention",
                           .opset = 23,
                           .attributes = {{"is_causal", 1, ""}},
                           .inputs = {{"Q", "F32", 4, {2, 4, 5, 8}},
                                      {"K", "F16", 4, {2, 2, 7, 8}},
                                      {"V", "BF16", 4, {2, 2, 7, 3}}},
                           .outputs = {{"Y", "F32", 4, {2, 4, 5, 3}}}};

// Whether the header is refused after a change.
template <class Change>
bool refuses(Change change) {
  header changed = attention;
  change(changed);
  return refusal_of(changed).any();
}

}  // namespace

BOOST_AUTO_TEST_CASE(headers_that_weft_does_not_support_are_refused) {
  BOOST_TEST(!refuses([](header&) {}));
  BOOST_TEST(refuses([](header& h) { h.op_type = "Conv"; }));
  BOOST_TEST(refuses([](header& h) { h.op_type = ""; }));
  BOOST_TEST(refuses([](header& h) { h.attributes[1] = {"causal", 1, ""}; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[3] = {"bias", "F32", 1, {3}}; }));
  BOOST_TEST(refuses([](header& h) { h.outputs[1] = {"bias", "F32", 1, {3}}; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].type = "F64"; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].type = ""; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].shape[0] = 0; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].shape[3] = 9; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].shape[1] = 3; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[0].rank = 2; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[2].shape[2] = 6; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[3] = {"attn_mask", "BOOL", 2, {5, 8}}; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[3] = {"attn_mask", "BOOL", 2, {4, 7}}; }));
  BOOST_TEST(!refuses([](header& h) { h.inputs[3] = {"attn_mask", "BOOL", 2, {1, 6}}; }));
  BOOST_TEST(refuses([](header& h) { h.inputs[3] = {"past_key", "F32", 4, {2, 2, 3, 8}}; }));
  BOOST_TEST(refuses([](header& h) { h.attributes[1] = {"softmax_precision", 11, ""}; }));
  BOOST_TEST(!refuses([](header& h) { h.attributes[1] = {"softmax_precision", 10, ""}; }));
  BOOST_TEST(refuses([](header& h) { h.attributes[1] = {"qk_matmul_output_mode", 4, ""}; }));
}
