#include "weft/passes/dump.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "weft/weft.hpp"

namespace {

using weft::node, weft::op;

struct A : weft::axis<2> {};
struct B : weft::axis<3> {};
struct C : weft::axis<4> {};
struct D : weft::axis<5> {};

// What the dump says after the operands of a node.
std::string attributes_of(const node& n) {
  std::ostringstream text;
  weft::detail::write_named_axes(text, n);
  weft::detail::write_numbers(text, n);
  return text.str();
}

// Calls f(words, number) for the operation's words, and for the numbers of `n`.
template <class F>
void for_each_number(node& n, F f) {
  const weft::attribute_names& names = weft::info(n.kind).names;
  f(names.scalar, n.scalar);
  f(names.start, n.start);
  f(names.lowest, n.lowest);
  f(names.highest, n.highest);
  f(names.origin, n.origin);
}

// Four axes, 1 for each choice, and 2, 3, ... for other numbers that it has.
node with_all_attributes(op kind) {
  node n = weft::make_node(kind, weft::axes_of(weft::shape<A, B, C, D>()));
  int next = 2;
  for_each_number(n, [&](const auto& words, auto& number) {
    if (words[0]) number = words[1] ? 1 : next++;
  });
  return n;
}

const std::string attention =
    " keys [A] depth [B] values [C] queries [D] soft_cap 2 lengths + 3 key - query >= 4 "
    "key - query <= 5 origin 6";
const std::string normalization = " along [A, B, C, D] epsilon 2";
const std::string part = " along [A] after [B, C, D] from 2";
const std::string windows = " along [A] windows [B] positions [C, D] stride 2 dilation 3";
// Those whose dump is not " along [A, B, C, D]".
const std::map<op, std::string> attributes{
    {op::constant, " along [A, B, C, D] 2 fault 3"},
    {op::element_ids, " along [A, B, C, D] rate 2 stream 3"},
    {op::within, " along [A, B, C, D] lengths"},
    {op::slice, part},
    {op::pad, part},
    {op::unfold, windows},
    {op::fold, windows},
    {op::get_result, " along [A, B, C, D] 2"},
    {op::normalize, normalization},
    {op::rms_normalize, normalization},
    {op::normalize_adjoint, normalization},
    {op::rms_normalize_adjoint, normalization},
    {op::norm_parameter_gradient, " along [A, B, C, D] bias"},
    {op::attention, attention},
    {op::attention_adjoint, attention},
    {op::top_k, " along [A] selected [B, C, D]"},
    {op::gather, " along [A, B, C, D] checked"},
    {op::scatter_add, " along [A, B, C, D] checked"},
    {op::update_rows, " along [A] rows [B, C, D] ring 2"},
    {op::rotate, " along [A] pairs [B, C, D] half_split"},
    {op::rotate_adjoint, " along [A] pairs [B, C, D] sine half_split"},
};

template <class F>
void for_each_operation(F f) {
  for (int k = 0; k < weft::op_count; ++k) f(static_cast<op>(k));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dump)

BOOST_AUTO_TEST_CASE(attributes_of_every_operation_have_names) {
  for_each_operation([](op k) {
    const auto known = attributes.find(k);
    const std::string expected = known == attributes.end() ? " along [A, B, C, D]" : known->second;
    BOOST_TEST(attributes_of(with_all_attributes(k)) == expected, name_of(k));
  });
}

BOOST_AUTO_TEST_CASE(attributes_that_a_model_does_not_set_are_left_out) {
  for_each_operation([](op k) {
    const std::string expected = k == op::constant || k == op::get_result ? " 0"
                                 : k == op::within                        ? " indices"
                                 : k == op::norm_parameter_gradient       ? " gain"
                                 : k == op::rotate                        ? " interleaved"
                                 : k == op::rotate_adjoint                ? " cosine interleaved"
                                                                          : "";
    BOOST_TEST(attributes_of(weft::make_node(k)) == expected, name_of(k));
  });
}

BOOST_AUTO_TEST_CASE(an_attribute_without_a_name_is_an_error_in_every_operation) {
  const auto g = std::make_unique<weft::graph>();
  g->count = 1;
  for_each_operation([&](op k) {
    for (int field = 0; field < 5; ++field) {
      node n = weft::make_node(k);
      int at = 0;
      bool named = false;
      for_each_number(n, [&](const auto& words, auto& number) {
        if (at++ == field) number = 1, named = words[0];
      });
      if (named) continue;
      BOOST_CHECK_THROW(attributes_of(n), std::exception);
      if (weft::least_operands(k) > 0) continue;
      g->nodes[0] = n;
      BOOST_TEST(weft::verify(*g).what == "an attribute that its operation has no name for");
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
