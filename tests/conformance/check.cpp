#include "conformance/check.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/error_bound.hpp"
#include "support/trial.hpp"
#include "weft/files/safetensors.hpp"

namespace weft::conformance {

namespace {

// Dense data over `from`, in the axis order of `to`.
std::vector<double> reordered(const std::vector<double>& data, const axis_list& from,
                              const axis_list& to, const reference::lengths& of) {
  namespace ref = reference::detail;
  std::vector<double> all(data.size());
  ref::for_each(ref::to_axes(to), of, {ref::layout(to, of), ref::layout(from, of)},
                [&](auto i, auto j) { all[i] = data[j]; });
  return all;
}

// The tolerance for the file's values, which were computed and rounded in the file's type: the
// bound for float32, as many times as that type's unit is larger, and one rounding.
double tolerance(const stored_tensor& t, double bound, double value) {
  const double unit = t.type == stored_type::float16    ? 0x1p-11
                      : t.type == stored_type::bfloat16 ? 0x1p-8
                                                        : testing::unit;
  return bound * (unit / testing::unit) + unit * std::abs(value) + testing::underflow;
}

}  // namespace

void check_model(const graph& written, const program& lowered, file_order order, const char* path) {
  const tensor_file file(path);
  const auto g = testing::kept([&] { return keep_outputs(written); });
  testing::settings s;
  for (int i = 0; i < g->input_count; ++i) {
    const std::string name(g->name(g->inputs[i].name));
    s.given[name] = file["input." + name].values<double>();
  }
  const testing::expectation expected(*g, s);
  expected.check(lowered);

  for (int i = 0; i < g->output_count; ++i) {
    const std::string_view name = g->name(g->outputs[i].name);
    const int id = g->outputs[i].node;
    auto values = expected.values()[static_cast<std::size_t>(id)].data;
    if (order) values = reordered(values, g->nodes[id].axes, order(name), {});
    const auto& stored = file["output." + std::string(name)];
    const auto in_file = stored.values<double>();
    BOOST_TEST_REQUIRE(values.size() == in_file.size(), name);
    for (std::size_t e = 0; e < values.size(); ++e) {
      const double within = tolerance(stored, expected.bound(id), values[e]);
      const bool same = values[e] == in_file[e] || std::abs(values[e] - in_file[e]) <= within;
      BOOST_TEST(same, name << "[" << e << "] is " << values[e] << ", the file's " << in_file[e]
                            << ", not within " << within);
    }
  }
}

}  // namespace weft::conformance
