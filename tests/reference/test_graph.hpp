// Graphs for tests of the reference. Axes have orders that the DSL does not produce, as in
// gradients.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/evaluate.hpp"
#include "support/axes.hpp"
#include "support/operands.hpp"
#include "weft/axes/axis.hpp"

namespace weft::testing {

using doubles = std::vector<double>;

struct Pair : axis<2> {};
struct Length : axis<up_to<4>> {};
struct Role : alias<Length> {};
struct Rest : axis<up_to<3>> {};
struct Long : axis<up_to<8>> {};
struct Whole : axis<up_to<9>> {};

inline constexpr const axis_info* two = &info_of<Two>;
inline constexpr const axis_info* pair = &info_of<Pair>;
inline constexpr const axis_info* three = &info_of<Three>;
inline constexpr const axis_info* five = &info_of<Five>;
inline constexpr const axis_info* six = &info_of<Six>;
inline constexpr const axis_info* length = &info_of<Length>;
inline constexpr const axis_info* role = &info_of<Role>;
inline constexpr const axis_info* rest = &info_of<Rest>;
inline constexpr const axis_info* longer = &info_of<Long>;
inline constexpr const axis_info* whole = &info_of<Whole>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double not_a_number = std::numeric_limits<double>::quiet_NaN();

using list = std::initializer_list<const axis_info*>;

inline axis_list axes(list all) {
  axis_list l{};
  for (const auto* axis : all) l.push(axis);
  return l;
}

// A graph that is built node by node, with the lengths and values that it is run with.
struct test_graph {
  std::unique_ptr<graph> g = std::make_unique<graph>();
  reference::lengths lengths;
  reference::bindings given;

  int input(list over, doubles data) {
    return leaf(op::input, over, data, g->inputs, g->input_count, given.inputs);
  }
  int parameter(list over, doubles data) {
    return leaf(op::parameter, over, data, g->parameters, g->parameter_count, given.parameters);
  }
  int constant(double value) {
    node n = make_node(op::constant);
    constant_value(n) = value;
    return emit(n);
  }
  int add(op kind, list over, std::initializer_list<int> operands, list named = {},
          std::int64_t start = 0, double scalar = 0, dtype type = dtype::float32) {
    node n = make_node(kind, axes(named));
    n.type = type;
    n.axes = axes(over);
    for (const int id : operands) add_operand(n, id);
    n.start = start;
    n.scalar = scalar;
    return emit(n);
  }
  int emit(const node& n) {
    g->nodes[g->count] = n;
    return g->count++;
  }
  name_ref name(std::string_view s) {
    const name_ref r{g->text_size, static_cast<int>(s.size())};
    std::copy(s.begin(), s.end(), g->own_text + r.begin);
    g->text_size += r.size;
    return r;
  }
  // The values of the last node.
  doubles run() const { return reference::evaluate(*g, lengths, given).back().data; }

 private:
  int leaf(op kind, list over, doubles data, leaf* leaves, int& count,
           reference::bindings::map& bound) {
    const std::string own_name = "leaf" + std::to_string(g->count);
    node n = make_node(kind);
    n.axes = axes(over);
    n.leaf = count;
    leaves[count++] = {name(own_name), g->count, {}, 0, {}, false};
    bound[own_name] = data;
    return emit(n);
  }
};

inline void check(const test_graph& t, const doubles& expected) {
  const doubles got = t.run();
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(got[i])
                          : got[i] == expected[i] || std::abs(got[i] - expected[i]) < 1e-12;
    BOOST_TEST(same, "element " << i << ": " << got[i] << ", expected " << expected[i]);
  }
}

// The value of an elementwise operation on scalars.
inline double scalar(op kind, doubles operands, dtype type = dtype::float32) {
  test_graph t;
  node n = make_node(kind);
  n.type = type;
  for (const double x : operands) add_operand(n, t.constant(x));
  t.emit(n);
  return t.run().at(0);
}

}  // namespace weft::testing
