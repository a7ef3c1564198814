#include "support/trial.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "kernels/targets.hpp"
#include "support/bits.hpp"
#include "support/error_bound.hpp"
#include "support/golden_init.hpp"
#include "support/operands.hpp"
#include "weft/kernels/family.hpp"
#include "weft/run/memory.hpp"

namespace weft::testing {

namespace {

// The input that node `id` is or views; -1 if there is none.
int viewed_input(const graph& g, int id) {
  while (is_view(g.nodes[id].kind)) id = operand_of(g.nodes[id], 0);
  return g.nodes[id].kind == op::input ? g.nodes[id].leaf : -1;
}

// Values of an input or a parameter, each exactly a float32, int32, bool or bfloat16.
std::vector<double> numbers(const std::string& name, dtype type, std::size_t count,
                            settings::range r) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(golden::hash(name, i) >> 8) * 0x1p-24;
    const double x = r.low + (r.high - r.low) * u;
    all[i] = type == dtype::float32    ? static_cast<double>(static_cast<float>(x))
             : type == dtype::bfloat16 ? static_cast<double>(bfloat16(static_cast<float>(x)))
             : type == dtype::int32    ? std::floor(x)
                                       : static_cast<double>(u < 0.5);
  }
  return all;
}

void put(std::byte* to, dtype type, double value) {
  const auto f = static_cast<float>(value);
  const auto i = static_cast<std::int32_t>(type == dtype::int32 ? value : 0);
  const auto b = static_cast<std::uint8_t>(value != 0);
  const bfloat16 h(f);
  const void* const from = type == dtype::float32    ? static_cast<const void*>(&f)
                           : type == dtype::int32    ? static_cast<const void*>(&i)
                           : type == dtype::bfloat16 ? static_cast<const void*>(&h)
                                                     : static_cast<const void*>(&b);
  std::memcpy(to, from, static_cast<std::size_t>(bytes(type)));
}

double get(const std::byte* from, dtype type) {
  float f = 0;
  std::int32_t i = 0;
  bfloat16 h(0);
  switch (type) {
    case dtype::float32:
      std::memcpy(&f, from, sizeof f);
      return static_cast<double>(f);
    case dtype::int32:
      std::memcpy(&i, from, sizeof i);
      return i;
    case dtype::bfloat16:
      std::memcpy(&h, from, sizeof h);
      return static_cast<double>(h);
    case dtype::boolean:
      break;
  }
  return static_cast<double>(std::to_integer<int>(*from));
}

// Calls f(index, offset) for each index of a tensor, in the order of its axes.
template <class Length, class Stride, class F>
void for_each_element(std::size_t rank, Length length, Stride stride, F f) {
  std::size_t next = 0;
  const auto loop = [&](auto& self, std::size_t axis, std::ptrdiff_t offset) -> void {
    if (axis == rank) return f(next++, offset);
    for (std::size_t i = 0; i < length(axis); ++i)
      self(self, axis + 1, offset + static_cast<std::ptrdiff_t>(i) * stride(axis));
  };
  loop(loop, 0, 0);
}

// An input in memory.
struct placed {
  std::vector<std::byte> memory;
  binding bound;

  placed(const input_ref& input, const node& n, const reference::lengths& of,
         const std::vector<double>& values, arrangement how) {
    const auto rank = static_cast<std::size_t>(n.axes.count);
    std::ptrdiff_t span = how == arrangement::padded ? 3 : 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t a = how == arrangement::permuted ? i : rank - 1 - i;
      bound.length[a] = of(n.axes.at[a]);
      bound.stride[a] = span;
      span *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(bound.length[a], 1));
      span += how == arrangement::padded ? 2 : 0;
    }
    const std::size_t size = static_cast<std::size_t>(bytes(input.type));
    memory.assign((static_cast<std::size_t>(span) + 1) * size, std::byte{0xff});
    bound.data = memory.data();
    for_each_element(
        rank, [&](auto a) { return bound.length[a]; }, [&](auto a) { return bound.stride[a]; },
        [&](std::size_t i, std::ptrdiff_t at) {
          put(memory.data() + at * static_cast<std::ptrdiff_t>(size), input.type, values[i]);
        });
  }
};

std::vector<double> elements(const engine& e, const result_ref& r) {
  const std::byte* const data = e.address(r.at);
  std::vector<double> all;
  for_each_element(
      static_cast<std::size_t>(r.rank), [&](auto a) { return e.length(r.extent[a]); },
      [&](auto a) { return r.at.stride[a]; },
      [&](std::size_t, std::ptrdiff_t at) {
        all.push_back(get(data + at * bytes(r.at.type), r.at.type));
      });
  return all;
}

// Compares values within a bound and a share of each, which `weight` multiplies for each element.
void compare(const std::string& name, const std::vector<double>& got,
             const std::vector<double>& expected, double bound, double share = 0,
             const std::vector<double>& weight = {}) {
  BOOST_TEST_REQUIRE(got.size() == expected.size(), name);
  std::size_t wrong = 0, first = 0;
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(expected[i])) most = std::max(most, std::abs(expected[i]));
    const double own = std::isfinite(expected[i]) ? share * std::abs(expected[i]) : 0;
    const double tolerance = (bound + own) * (weight.empty() ? 1 : weight[i]);
    const bool same = std::isnan(expected[i])
                          ? std::isnan(got[i])
                          : got[i] == expected[i] || std::abs(got[i] - expected[i]) <= tolerance;
    if (!same && wrong++ == 0) first = i;
  }
  if (wrong > 0)
    BOOST_ERROR(name << ": " << wrong << " of " << got.size() << " wrong; element " << first
                     << " is " << got[first] << ", expected " << expected[first] << " within "
                     << bound + share * std::abs(expected[first]));
  // A bound as large as the values would let anything pass. If all of them are 0, there is nothing
  // to compare the bound with.
  BOOST_TEST((most == 0 || bound <= 0.01 * most),
             name << ": the bound " << bound << " is too loose for values up to " << most
                  << "; of a deep model, settings::tolerance decides");
}

// Compares with values that are not the reference's, each with its own tolerance.
void compare_outcome(const std::string& name, const std::vector<double>& got,
                     const settings::outcome& expected) {
  BOOST_TEST_REQUIRE(got.size() == expected.value.size(), name);
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - expected.value[i]) <= expected.tolerance[i]) && wrong++ == 0) first = i;
  if (wrong > 0)
    BOOST_ERROR(name << ": " << wrong << " of " << got.size() << " wrong; element " << first
                     << " is " << got[first] << ", expected " << expected.value[first] << " within "
                     << expected.tolerance[first]);
}

}  // namespace

expectation::expectation(const graph& g, const settings& s)
    : g_(g), settings_(s), of_(reference::complete(g, s.lengths)) {
  fill(s);
  given_.random = s.random;
  if (s.results) return;
  if (s.tolerance > 0) {
    all_ = reference::evaluate(g, s.lengths, given_);
    bounds_ = bounds_of_roundings();
  } else {
    auto [all, bounds] = evaluate_with_bounds(g, s.lengths, given_);
    all_ = std::move(all);
    bounds_ = std::move(bounds);
  }
}

void expectation::check(const program& p, made_steps generated, const auditor* a,
                        bool every_target) const {
  // Targets that no code is generated for, such as one lane, are a family of their own: the
  // library's kernels may add in another order than generated code.
  std::map<std::pair<target_family, bool>, std::vector<std::uint64_t>> of_family;
  const auto on_target = [&](const auto&...) {
    const std::pair key(family(), generated != nullptr && generated().of != nullptr);
    const auto first = of_family.find(key);
    const bool is_first = first == of_family.end();
    const std::vector<std::uint64_t> all = run_all(p, generated, a, is_first);
    if (is_first) {
      of_family[key] = all;
      return;
    }
    constexpr std::string_view form[]{"a run", "a frozen run", "a run by instructions"};
    for (std::size_t r = 0; r < all.size(); ++r)
      BOOST_TEST((all[r] == first->second[r]),
                 form[r] << " gives other bits than on another target of the family");
  };
  every_target ? kernels::on_every_target(on_target) : on_target();
}

// Returns the hashes of the outputs of runs that may differ in bits.
std::vector<std::uint64_t> expectation::run_all(const program& p, made_steps generated,
                                                const auditor* a, bool compare) const {
  const outputs plain = run(p, generated, arrangement::dense, compare);
  for (auto how : {arrangement::padded, arrangement::permuted})
    BOOST_TEST((run(p, generated, how, false) == plain), "other strides give other bits");
  const outputs frozen = run(p, generated, arrangement::dense, compare, true);
  if (a == nullptr) return {hash_of(plain), hash_of(frozen)};
  const outputs audited = run(p, {}, arrangement::dense, compare, false, a);
  BOOST_TEST((run(p, {}, arrangement::dense, false, false, a, 3) == audited),
             "work in parts gives other bits");
  return {hash_of(plain), hash_of(frozen), hash_of(audited)};
}

std::vector<double> expectation::bounds_of_roundings() const {
  std::vector<double> bounds;
  for (const auto& values : all_) {
    double most = 0;
    for (const double x : values.data)
      if (std::isfinite(x)) most = std::max(most, std::abs(x));
    bounds.push_back(settings_.roundings * unit * most);
  }
  // Terms as large as other gradients may cancel, as in the gradients of the scores of a single
  // key.
  std::vector<std::size_t> gradients;
  for (int i = 0; i < g_.output_count; ++i)
    if (g_.outputs[i].kind == output_kind::gradient)
      gradients.push_back(static_cast<std::size_t>(g_.outputs[i].node));
  double most_gradient = 0;
  for (const std::size_t node : gradients) most_gradient = std::max(most_gradient, bounds[node]);
  for (const std::size_t node : gradients)
    bounds[node] = std::max(bounds[node], 64 / settings_.roundings * most_gradient);
  return bounds;
}

void expectation::fill(const settings& s) {
  std::vector<settings::range> ranges(static_cast<std::size_t>(g_.input_count), {-20, 20});
  for (int i = 0; i < g_.count; ++i) {
    const node& n = g_.nodes[i];
    const bool is_within = n.kind == op::within;
    if (n.kind != op::gather && !is_within) continue;
    if (const int input = viewed_input(g_, operand_of(n, is_within ? 0 : 1)); input >= 0) {
      auto& r = ranges[static_cast<std::size_t>(input)];
      const auto length = static_cast<double>(of_(is_within ? bounding_axis(n) : indexed_axis(n)));
      r = {0, std::min(r.high, length + (is_within && is_length(n) ? 1 : 0))};
    }
  }
  for (int i = 0; i < g_.input_count; ++i) {
    const std::string name(g_.name(g_.inputs[i].name));
    const node& n = g_.nodes[g_.inputs[i].node];
    auto r = n.type == dtype::int32 ? ranges[static_cast<std::size_t>(i)] : settings::range{-1, 1};
    if (const auto found = s.ranges.find(name); found != s.ranges.end()) r = found->second;
    const auto values = s.given.find(name);
    given_.inputs[name] = values != s.given.end()
                              ? values->second
                              : numbers(name, n.type, reference::detail::product(of_, n.axes), r);
  }
  for (int i = 0; i < g_.state_count; ++i) {
    const std::string name(g_.name(g_.states[i].name));
    const node& n = g_.nodes[g_.states[i].node];
    settings::range r{-1, 1};
    if (n.type == dtype::int32) r = {-20, 20};
    if (const auto found = s.ranges.find(name); found != s.ranges.end()) r = found->second;
    const auto values = s.given.find(name);
    given_.states[name] =
        values != s.given.end() ? values->second : numbers(name, n.type, n.axes.extent(), r);
  }
  for (int i = 0; i < g_.parameter_count; ++i) {
    const std::string name(g_.name(g_.parameters[i].name));
    const node& n = g_.nodes[g_.parameters[i].node];
    const auto values = s.given.find(name);
    const auto found = s.ranges.find(name);
    given_.parameters[name] =
        values != s.given.end()
            ? values->second
            : numbers(name, n.type, n.axes.extent(),
                      found == s.ranges.end() ? settings::range{-1, 1} : found->second);
  }
}

expectation::outputs expectation::run(const program& p, made_steps generated, arrangement how,
                                      bool compare, bool frozen, const auditor* audit,
                                      int parts) const {
  BOOST_TEST(std::size(p.inputs) == static_cast<std::size_t>(g_.input_count),
             "the program takes other inputs than the model has");
  std::vector<placed> inputs;
  for (const input_ref& r : p.inputs) {
    const std::string_view name = p.name(r.name);
    inputs.emplace_back(r, input_node(name), of_, given_.inputs.find(name)->second, how);
  }
  std::vector<binding> arguments;
  for (const auto& i : inputs) arguments.push_back(i.bound);

  // Each parameter is anywhere, and not aligned, as in a mapped file.
  std::vector<std::vector<std::byte>> parameters;
  std::vector<std::byte*> addresses;
  for (const parameter_ref& r : p.parameters) {
    const auto& values = given_.parameters.find(p.name(r.name))->second;
    auto& memory = parameters.emplace_back(4 + 4 * r.size);
    for (std::size_t i = 0; i < r.size; ++i)
      put(memory.data() + 4 + 4 * i, dtype::float32, values[i]);
    addresses.push_back(memory.data() + 4);
  }
  // NaN, so that elements that are not written, or are read before, are found.
  const auto poisoned = [](std::size_t size) {
    auto block = allocate(size);
    std::memset(block.get(), 0xff, size);
    return block;
  };
  const auto gradients = poisoned(p.gradient_bytes), packed = poisoned(p.packed.floats),
             workspace = poisoned(p.workspace_bytes + (audit ? audit->extra_bytes() : 0));
  engine e(p, {addresses.data(), gradients.get(), workspace.get()},
           generated ? generated() : generated_steps{});
  e.draw_from(given_.random);
  const std::span beyond(workspace.get() + p.scratch_offset() + p.frozen_scratch({}),
                         workspace.get() + p.workspace_bytes);
  if (frozen) e.freeze(packed.get(), {}), std::ranges::fill(beyond, std::byte{0xff});
  const auto put_states = [&] {
    for (const state_ref& r : p.states) {
      const auto& values = given_.states.find(p.name(r.name))->second;
      for (std::size_t i = 0; i < values.size(); ++i)
        put(workspace.get() + r.offset + i * static_cast<std::size_t>(bytes(r.type)), r.type,
            values[i]);
    }
  };
  put_states();
  if (frozen) e.prepare(false);  // changes nothing
  e.bind(arguments);
  if (!audit && p.once > 0) {  // invariant values must still be there in a second run
    e.run();
    put_states();
  }
  if (audit)
    BOOST_TEST(audit->run(e, parts) == 0, "steps that give something else in memory of their own");
  else
    e.run();
  BOOST_TEST((!frozen || std::ranges::count(beyond, std::byte{0xff}) == std::ssize(beyond)),
             "a frozen run writes beyond its scratch");
  // Results must not alias arguments or parameters, which may change before results are read.
  for (placed& i : inputs) std::ranges::fill(i.memory, std::byte{0xff});
  for (auto& memory : parameters) std::ranges::fill(memory, std::byte{0xff});

  outputs all;
  for (const result_ref& r : p.results) {
    all.push_back(elements(e, r));
    if (compare) check_result(r, std::string(p.name(r.name)), e, all.back());
  }
  for (const state_ref& r : p.states) {
    all.push_back({});
    for (std::size_t i = 0; i < r.bytes; i += static_cast<std::size_t>(bytes(r.type)))
      all.back().push_back(get(workspace.get() + r.offset + i, r.type));
    if (compare) check_state(std::string(p.name(r.name)), all.back());
  }
  if (p.gradient_bytes > 0)
    for (const parameter_ref& r : p.parameters) {
      all.push_back({});
      for (std::size_t i = 0; i < r.size; ++i)
        all.back().push_back(get(gradients.get() + r.offset + 4 * i, dtype::float32));
      if (compare) check_gradient(std::string(p.name(r.name)), all.back());
    }
  for (auto& one : all)  // NaN would not be equal to itself
    std::ranges::replace_if(
        one, [](double x) { return std::isnan(x); }, 1e300);
  record_bits(all);
  return all;
}

const node& expectation::input_node(std::string_view name) const {
  for (int i = 0; i < g_.input_count; ++i)
    if (g_.name(g_.inputs[i].name) == name) return g_.nodes[g_.inputs[i].node];
  throw std::logic_error("the program has an input that the model lacks");
}

int expectation::output_node(output_kind kind, std::string_view name) const {
  for (int i = 0; i < g_.output_count; ++i)
    if (g_.outputs[i].kind == kind && g_.name(g_.outputs[i].name) == name)
      return g_.outputs[i].node;
  throw std::logic_error("the program has an output that the model lacks");
}

void expectation::check_result(const result_ref& r, const std::string& name, const engine& e,
                               const std::vector<double>& got) const {
  const int id = output_node(output_kind::result, name);
  const node& n = g_.nodes[id];
  BOOST_TEST((r.at.type == n.type), name << " has other elements");
  BOOST_TEST_REQUIRE(r.rank == n.axes.count, name);
  for (int a = 0; a < r.rank; ++a)
    BOOST_TEST_REQUIRE(e.length(r.extent[a]) == of_(n.axes.at[a]), name << ", axis " << a);
  if (settings_.results) return compare_outcome(name, got, settings_.results->at(name));
  compare(name, got, all_[static_cast<std::size_t>(id)].data, bounds_[static_cast<std::size_t>(id)],
          settings_.tolerance);
}

// Beyond the lengths of the run a state keeps its bits, and so does all of a state that is not
// updated.
void expectation::check_state(const std::string& name, const std::vector<double>& got) const {
  const std::vector<double>& before = given_.states.find(name)->second;
  if (settings_.states) {
    const auto outcome = settings_.states->find(name);
    if (outcome != settings_.states->end())
      return compare_outcome("state " + name, got, outcome->second);
  }
  for (int i = 0; i < g_.output_count; ++i) {
    if (g_.outputs[i].kind != output_kind::update || g_.name(g_.outputs[i].name) != name) continue;
    const int id = g_.outputs[i].node;
    const axis_list& axes = g_.nodes[id].axes;
    const reference::values& v = all_[static_cast<std::size_t>(id)];
    const reference::values ones{std::vector<double>(v.data.size(), 1)};
    const auto inside = reference::at_bound(ones, axes, of_).data;
    auto expected = reference::at_bound(v, axes, of_).data;
    for (std::size_t e = 0; e < expected.size(); ++e)
      if (inside[e] == 0) expected[e] = before[e];
    return compare("state " + name, got, expected, bounds_[static_cast<std::size_t>(id)],
                   settings_.tolerance, inside);
  }
  compare("state " + name, got, before, 0);
}

// Beyond the lengths of the run a gradient is exactly 0.
void expectation::check_gradient(const std::string& name, const std::vector<double>& got) const {
  if (settings_.gradients)
    return compare_outcome("the gradient of " + name, got, settings_.gradients->at(name));
  for (int i = 0; i < g_.parameter_count; ++i)  // no gradient is computed for a held one
    if (g_.parameters[i].held && g_.name(g_.parameters[i].name) == name) return;
  const int id = output_node(output_kind::gradient, name);
  const axis_list& axes = g_.nodes[id].axes;
  const reference::values& v = all_[static_cast<std::size_t>(id)];
  const reference::values inside{std::vector<double>(v.data.size(), 1)};
  compare("the gradient of " + name, got, reference::at_bound(v, axes, of_).data,
          bounds_[static_cast<std::size_t>(id)], settings_.tolerance,
          reference::at_bound(inside, axes, of_).data);
}

void trial(const run_time_source& of, const settings& s, made_steps generated) {
  const auto g = plain_graph(of);
  const auto optimized = compiled_graph(of);
  const run_time_program lowered(*optimized);
  const expectation expected(*g, s);
  const auditor audit(*optimized, lowered.program);
  expected.check(lowered.program, generated, &audit, s.every_target);
}

}  // namespace weft::testing
