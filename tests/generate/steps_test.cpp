// Generated steps beside the library's kernels: in profiles, packed files, bfloat16, threads and
// loops.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "generate/models.hpp"
#include "kernels/targets.hpp"
#include "support/temporary.hpp"
#include "weft/files/load.hpp"
#include "weft/inspect/profile.hpp"

namespace {

using namespace weft::generating;
using weft::precision, weft::tensor_file, weft::testing::temporary;

// A layer of seven positions, whose weights are small.
using layer = fixed_encoder;
using layer_unit = weft::inference<layer, "y">;
constexpr const auto& tables = weft::lowered<layer_unit>::tables;

auto made() {
  return weft::generated<layer, "y">();
}
using layer_module = weft::module<layer, "y">;

weft::array<float, layer::Batch, layer::Pos, layer::Embed> numbers() {
  weft::array<float, layer::Batch, layer::Pos, layer::Embed> x;
  for (std::size_t i = 0; i < x.view().size(); ++i)
    x.view().data()[i] = std::sin(static_cast<float>(i));
  return x;
}
template <class Net>
std::vector<float> run(Net& net) {
  const auto y = net(weft::arg<"x">(numbers())).template get<"y">();
  return {y.data(), y.data() + y.size()};
}
float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// Whether code is generated for the best SIMD target: not where vectors have one lane.
bool generates() {
  return made().steps().of != nullptr;
}
// Results of both are sums of 33 products of numbers below 4, and differ by their roundings.
constexpr float rounding = 33 * 16 * 0x1p-23f;
// The same with weights of 8 bits.
constexpr float of_bfloat16 = 33 * 16 * 0x1p-8f;

}  // namespace

BOOST_AUTO_TEST_SUITE(generated_steps)

BOOST_AUTO_TEST_CASE(a_profile_times_each_generated_step) {
  layer_module net(made());
  const weft::profile p(net);
  run(net), run(net);
  BOOST_TEST(p.runs() == 2u);
  BOOST_TEST(p.instructions().size() == tables.instructions.size());
  BOOST_TEST(p.sum().spent.total > 0);
}

BOOST_AUTO_TEST_CASE(packed_weights_are_those_of_a_module_without_generated_code) {
  const temporary file("weft_steps_source"), packed("weft_steps_packed");
  const weft::parameters<layer> parameters({.seed = 3});
  weft::save(parameters, file);
  weft::kernels::on_every_target([&](const auto&) {
    layer_module tables_only(parameters), net(parameters, made());
    const auto unfrozen = run(net);
    tables_only.freeze(), net.freeze();
    const auto expected = run(net);
    BOOST_TEST(distance(expected, run(tables_only)) <= rounding);
    BOOST_TEST(distance(expected, unfrozen) <= rounding);
    weft::save(tables_only.packed(), packed);
    const std::string bytes = content(packed);
    weft::save(net.packed(), packed);
    BOOST_TEST((content(packed) == bytes));
    // From the file of weights, and from packed ones, which other modules share.
    layer_module read(tensor_file(file), precision::float32, {}, made());
    BOOST_TEST((run(read) == expected));
    layer_module mapped(tensor_file(packed), precision::float32, {}, made());
    BOOST_TEST((run(mapped) == expected));
    layer_module second(weft::sharing(mapped), made()), third(weft::sharing(tables_only), made());
    BOOST_TEST((run(second) == expected));
    BOOST_TEST((run(third) == expected));
    layer_module fourth(weft::sharing(net));
    BOOST_TEST((run(fourth) == run(tables_only)));
  });
}

BOOST_AUTO_TEST_CASE(contractions_with_weights_in_bfloat16_are_the_kernels) {
  const weft::parameters<layer> parameters({.seed = 3});
  weft::kernels::on_every_target([&](const auto&) {
    layer_module tables_only(parameters), net(parameters, made());
    const auto whole = run(net);
    for (const precision p : {precision::bfloat16, precision::bfloat16_products}) {
      tables_only.freeze(p), net.freeze(p);
      const auto y = run(net);
      BOOST_TEST(distance(y, run(tables_only)) <=
                 (p == precision::bfloat16 ? rounding : of_bfloat16));
      BOOST_TEST(distance(y, whole) > rounding);
      BOOST_TEST(distance(y, whole) <= of_bfloat16);
    }
    net.freeze();
    BOOST_TEST(distance(run(net), whole) <= rounding);
  });
}

BOOST_AUTO_TEST_CASE(results_have_the_same_bits_for_any_number_of_threads) {
  const weft::parameters<layer> parameters({.seed = 3});
  layer_module net(parameters, made());
  const auto expected = run(net);
  for (const int n : {2, 3}) {
    net.run_on(weft::executor(n, [](int jobs, weft::job f) {
      while (jobs > 0) f(--jobs);
    }));
    BOOST_TEST((run(net) == expected));
  }
}

// A run on threads, whatever it would gain: each step in parts, as a team asks for them.
BOOST_AUTO_TEST_CASE(a_step_runs_whole_in_one_of_its_partitions) {
  const weft::parameters<layer> parameters({.seed = 3});
  const auto x = numbers();
  const auto y = [&](int parts) {
    const auto workspace = weft::allocate(tables.workspace_bytes);
    weft::engine e(weft::lowered<layer_unit>::program,
                   {parameters.addresses(), nullptr, workspace.get()}, made().steps());
    e.bind(weft::bindings<layer_unit>(weft::lowered<layer_unit>::program, weft::arg<"x">(x)));
    for (int i = tables.once; i < static_cast<int>(tables.instructions.size()); ++i)
      for (int p = parts; p-- > 0;) e.run(i, 0, weft::kernels::partition(p, parts));
    const auto* const from = reinterpret_cast<const float*>(e.address(tables.results[0].at));
    return std::vector<float>(from, from + x.view().size());
  };
  BOOST_TEST((y(3) == y(1)));
}

BOOST_AUTO_TEST_CASE(each_execution_of_a_step_is_reported_as_done) {
  using unit = weft::training<recurrent, "loss">;
  constexpr const auto& p = weft::lowered<unit>::program;
  const weft::parameters<recurrent> parameters({.seed = 1});
  const auto gradients = weft::allocate(p.gradient_bytes),
             workspace = weft::allocate(p.workspace_bytes);
  weft::engine e(p, {parameters.addresses(), gradients.get(), workspace.get()},
                 weft::generated_training<recurrent>().steps());
  const weft::array<float, recurrent::Batch, recurrent::Pos, recurrent::In> x(3);
  e.bind(weft::bindings<unit>(p, weft::arg<"x">(x)));
  std::vector<int> times(p.instructions.size());
  e.run([&](int i) { ++times[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool repeats = std::any_of(p.loops.begin(), p.loops.end(), [&](const auto& l) {
      return static_cast<int>(i) >= l.first && static_cast<int>(i) < l.last;
    });
    BOOST_TEST(times[i] == (static_cast<int>(i) < p.once ? 0 : repeats ? 3 : 1));
  }
}

BOOST_AUTO_TEST_CASE(steps_are_generated_in_the_body_of_a_loop) {
  constexpr const auto& p = weft::lowered<weft::training<recurrent, "loss">>::program;
  const auto steps = weft::generated_training<recurrent>().steps();
  if (!generates()) return;
  BOOST_REQUIRE(p.loops.size() > 0u);
  for (const weft::loop_ref& l : p.loops) {
    bool any = false;
    for (int i = l.first; i < l.last; ++i) any = any || steps.of[i].run != nullptr;
    BOOST_TEST(any);
  }
}

BOOST_AUTO_TEST_CASE(small_contractions_of_a_frozen_module_are_generated) {
  if (!generates()) return;
  int contractions = 0;
  for (std::size_t i = 0; i < tables.instructions.size(); ++i)
    if (tables.instructions[i].run == weft::kernel::dot) {
      ++contractions;
      BOOST_TEST(made().steps().of[i].run != nullptr);
      BOOST_TEST(made().steps().of[i].reads_packed);
    }
  BOOST_TEST(contractions >= 4);
}

BOOST_AUTO_TEST_SUITE_END()
