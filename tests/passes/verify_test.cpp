#include "weft/passes/verify.hpp"

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <memory>
#include <string>

#include "support/operands.hpp"
#include "weft/weft.hpp"

namespace {

struct Rows : weft::axis<3> {};
struct In : weft::axis<4> {};
struct Out : weft::axis<2> {};

using weft::axes_of, weft::graph, weft::make_node, weft::node, weft::op, weft::shape;
using weft::testing::add_operand, weft::testing::set_operand;

int emit(graph& g, op kind, const weft::axis_list& axes, std::initializer_list<int> operands = {}) {
  node n = make_node(kind);
  n.axes = axes;
  for (const int id : operands) add_operand(n, id);
  return g.emit(n);
}

// Graphs are too large for the stack of a test's thread.
struct well_formed {
  std::unique_ptr<graph> g = std::make_unique<graph>();
  int x = emit(*g, op::input, axes_of(shape<Rows, In>()));
  int w = emit(*g, op::parameter, axes_of(shape<In, Out>()));
  int y = emit(*g, op::dot, axes_of(shape<Rows, Out>()), {x, w});
  int z = emit(*g, op::tanh, axes_of(shape<Rows, Out>()), {y});
  int s = sum();

  int sum() {
    node n = make_node(op::sum, axes_of(shape<Out>()));
    n.axes = axes_of(shape<Rows>());
    add_operand(n, z);
    return g->emit(n);
  }
  node& at(int id) { return g->nodes[id]; }
  // A running sum along Rows, as nodes 5 to 11.
  void add_scan() {
    const weft::axis_list all = axes_of(shape<Rows, Out>()), of_step = axes_of(shape<Out>());
    const weft::axis_info* const rows = axes_of(shape<Rows>()).at[0];
    initial = emit(*g, op::constant, {});
    const int region = g->add_region({rows, rows, false});
    const auto in_body = [&](op kind, int operand) {
      node n = make_node(kind);
      n.axes = of_step;
      n.region = static_cast<std::int16_t>(region);
      add_operand(n, operand);
      return n;
    };
    node n = in_body(op::scan_slice, z);
    n.named.push(rows);
    slice = g->emit(n);
    carry = g->emit(in_body(op::carry, initial));
    sum_of_step = emit(*g, op::add, of_step, {carry, slice});
    yield = emit(*g, op::yield, of_step, {carry, sum_of_step});
    n = in_body(op::scan_collect, sum_of_step);
    n.axes = all;
    n.named.push(rows);
    collect = g->emit(n);
    result = emit(*g, op::scan_result, of_step, {carry});
  }
  int initial = 0, slice = 0, carry = 0, sum_of_step = 0, yield = 0, collect = 0, result = 0;
  // The faulty node, and what is wrong with it.
  std::string fault() const {
    const auto [id, what] = verify(*g, true);
    return id < 0 ? "none" : std::to_string(id) + ": " + std::string(what);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(verify)

BOOST_AUTO_TEST_CASE(a_well_formed_graph_has_no_fault) {
  BOOST_TEST(well_formed().fault() == "none");
}

BOOST_AUTO_TEST_CASE(an_operand_has_to_come_before_its_user) {
  well_formed m;
  set_operand(m.at(m.y), 1, m.z);
  BOOST_TEST(m.fault() == "2: an operand that does not come before it");
}

BOOST_AUTO_TEST_CASE(an_operation_has_as_many_operands_as_its_entry_says) {
  well_formed m;
  m.at(m.z).operands = 2;
  BOOST_TEST(m.fault() == "3: the number of operands");
}

BOOST_AUTO_TEST_CASE(a_tensor_has_each_axis_once) {
  well_formed m;
  m.at(m.x).axes = axes_of(shape<Rows>());
  m.at(m.x).axes.push(m.at(m.x).axes.at[0]);
  BOOST_TEST(m.fault() == "0: an axis twice");
}

BOOST_AUTO_TEST_CASE(an_elementwise_result_has_the_axes_of_its_operands) {
  well_formed m;
  m.at(m.z).axes = axes_of(shape<Rows>());
  BOOST_TEST(m.fault() == "3: an operand with axes that it lacks");
}

BOOST_AUTO_TEST_CASE(an_elementwise_operation_takes_the_element_types_of_its_entry) {
  well_formed m;
  m.at(m.z).type = weft::dtype::int32;
  BOOST_TEST(m.fault() == "3: element types that the operation lacks");
}

BOOST_AUTO_TEST_CASE(a_contraction_has_no_axis_but_those_of_its_factors) {
  well_formed m;
  m.at(m.x).axes = axes_of(shape<In>());
  BOOST_TEST(m.fault() == "2: an axis that no factor has");
}

BOOST_AUTO_TEST_CASE(a_reduction_keeps_what_it_does_not_name) {
  well_formed m;
  weft::reduced_axes(m.at(m.s)) = axes_of(shape<Rows>());
  BOOST_TEST(m.fault() == "4: axes that do not follow from those that it names");
}

BOOST_AUTO_TEST_CASE(optional_operands_are_counted) {
  well_formed m;
  weft::add_operand(m.at(m.y), weft::role::addend, m.x);
  m.at(m.y).axes = axes_of(shape<Rows, Out, In>());
  m.at(m.y).present = 0;
  BOOST_TEST(m.fault() == "2: the number of operands");
}

namespace {

struct Batch : weft::axis<2> {};
struct Query : weft::axis<3> {};
struct Key : weft::axis<5> {};
struct Depth : weft::axis<4> {};
struct Value : weft::axis<6> {};
struct Distance : weft::axis<7> {};

// An attention, or its adjoint, with an operand in every slot, of all axes that it may have.
struct attention_with_all {
  explicit attention_with_all(op kind) {
    node n = make_node(kind, axes_of(shape<Key, Depth, Value, Query>()));
    n.axes = axes_of(shape<Batch, Query, Value>());
    for (int s = 0; s < info(kind).slot_count; ++s) {
      const weft::slot& of = info(kind).slots[s];
      if (!is_operand(of)) continue;
      node x = make_node(of.by == weft::access::strides ? op::element_ids : op::input);
      x.type = of.type;
      const weft::axis_list all = axes_of(shape<Batch, Query, Key, Depth, Value, Distance>());
      for (int a = 0; a < all.count; ++a)
        if ((of.loops >> a & 1u) != 0) x.axes.push(all.at[a]);
      weft::add_operand(n, of.what, g->emit(x));
    }
    id = g->emit(n);
  }
  node& operand(weft::role what) { return g->nodes[find_operand(g->nodes[id], what)]; }
  std::string_view fault() const { return weft::verify(*g, true).what; }

  std::unique_ptr<graph> g = std::make_unique<graph>();
  int id = 0;
};

constexpr op attentions[]{op::attention, op::attention_adjoint};

}  // namespace

BOOST_AUTO_TEST_CASE(operands_of_attention_have_axes_of_their_roles_alone) {
  for (const op kind : attentions)
    for (int s = 0; s < info(kind).slot_count; ++s) {
      const weft::slot& of = info(kind).slots[s];
      if (!is_operand(of)) continue;
      attention_with_all m(kind);
      BOOST_TEST(m.fault() == "");
      m.operand(of.what).axes.push(axes_of(shape<Rows>()).at[0]);
      if (of.what != weft::role::result)  // its other axes are those of the batch
        BOOST_TEST(m.fault() == "an operand with axes that its role lacks", name_of(of.what));
    }
}

BOOST_AUTO_TEST_CASE(operands_of_attention_have_the_elements_of_their_roles) {
  for (const op kind : attentions)
    for (int s = 0; s < info(kind).slot_count; ++s) {
      const weft::slot& of = info(kind).slots[s];
      if (of.by != weft::access::reads) continue;
      for (const auto type : {weft::dtype::float32, weft::dtype::int32, weft::dtype::boolean,
                              weft::dtype::bfloat16}) {
        attention_with_all m(kind);
        m.operand(of.what).type = type;
        const bool may = type == of.type || (of.narrow && type == weft::dtype::bfloat16);
        const char* const expected = may ? "" : "an operand with elements that its role lacks";
        BOOST_TEST(m.fault() == expected, name_of(of.what));
      }
    }
}

BOOST_AUTO_TEST_CASE(attention_has_its_required_operands_in_any_case) {
  for (const op kind : attentions) {
    attention_with_all m(kind);
    node& n = m.g->nodes[m.id];
    n.present = 0;
    n.operands = static_cast<std::int8_t>(least_operands(kind) - 1);
    BOOST_TEST(m.fault() == "the number of operands");
  }
}

BOOST_AUTO_TEST_CASE(a_well_formed_scan_has_no_fault) {
  well_formed m;
  m.add_scan();
  BOOST_TEST(m.fault() == "none");
}

BOOST_AUTO_TEST_CASE(a_node_is_in_the_scan_of_its_operands) {
  well_formed m;
  m.add_scan();
  m.at(m.z).region = 1;
  BOOST_TEST(m.fault() == "3: a scan that is not its operands'");
}

BOOST_AUTO_TEST_CASE(values_of_a_scan_leave_it_by_what_collects_them) {
  well_formed m;
  m.add_scan();
  set_operand(m.at(m.collect), 0, m.z);
  BOOST_TEST(m.fault() == "10: an operand of another scan");
}

BOOST_AUTO_TEST_CASE(a_step_sets_a_carry) {
  well_formed m;
  m.add_scan();
  set_operand(m.at(m.yield), 0, m.slice);
  BOOST_TEST(m.fault() == "9: an operand that is no carry");
}

BOOST_AUTO_TEST_CASE(a_carry_keeps_its_axes_and_elements) {
  well_formed m;
  m.add_scan();
  m.at(m.carry).type = weft::dtype::int32;
  BOOST_TEST(m.fault() == "7: an initial value of other axes or elements");
}

BOOST_AUTO_TEST_CASE(a_step_gives_a_carry_no_axis) {
  well_formed m;
  m.add_scan();
  m.at(m.sum_of_step).axes = axes_of(shape<Rows, Out>());
  BOOST_TEST(m.fault() == "9: a new value of other axes or elements");
}

BOOST_AUTO_TEST_CASE(a_slice_lacks_the_scanned_axis_alone) {
  well_formed m;
  m.add_scan();
  m.at(m.slice).axes = axes_of(shape<Rows>());
  BOOST_TEST(m.fault() == "6: axes that do not follow from the scanned one");
}

BOOST_AUTO_TEST_CASE(outputs_are_nodes_of_the_graph) {
  well_formed m;
  m.g->outputs[m.g->output_count++].node = 17;
  BOOST_TEST(m.fault() == "0: an output of no node");
}

BOOST_AUTO_TEST_SUITE_END()
