// When the gradients of parameters are finished.
#include "weft/mpi/finished.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "mpi/model.hpp"

namespace {

using namespace weft::testing;
using weft::arg;

// Gradients are sent while others are computed: nothing touches one after the instruction that is
// said to finish it.
template <class Model, class... Args>
void check_finished(const Args&... args) {
  using source = weft::training<Model, "loss">;
  using code = weft::lowered<source>;
  static constexpr auto finished = weft::detail::finished_by(code::tables);
  const weft::parameters<Model> p({.seed = 3});
  const auto gradients = weft::allocate(p.bytes);
  const auto workspace = weft::allocate(code::tables.workspace_bytes);
  weft::engine e(code::program, {p.addresses(), gradients.get(), workspace.get()});
  weft::bind_arguments<source>(e, args...);
  std::vector<std::vector<float>> when_finished(finished.size());
  const auto gradient = [&](std::size_t i) {
    const auto& of = code::tables.parameters[i];
    const auto* const at = reinterpret_cast<const float*>(gradients.get() + of.offset);
    return std::vector<float>(at, at + of.size);
  };
  // Nothing reads it either: the sum of all ranks may be written there already.
  const auto loss = [&] {
    return *reinterpret_cast<const float*>(e.address(code::tables.results[0].at));
  };
  e.run();
  const float expected = loss();
  e.run([&](int step) {
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (finished[i] != step || !when_finished[i].empty()) continue;
      when_finished[i] = gradient(i);
      const auto& of = code::tables.parameters[i];
      std::fill_n(reinterpret_cast<float*>(gradients.get() + of.offset), of.size, NAN);
    }
  });
  BOOST_TEST(loss() == expected);
  const auto after = [&](std::size_t i) {
    auto g = gradient(i);
    const bool untouched = std::ranges::all_of(g, [](float x) { return std::isnan(x); });
    return untouched ? when_finished[i] : g;
  };
  std::vector<std::vector<float>> overwritten;
  for (std::size_t i = 0; i < finished.size(); ++i) overwritten.push_back(after(i));
  e.run();
  int before_the_last = 0;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const std::string name(code::program.name(code::tables.parameters[i].name));
    if (finished[i] == static_cast<int>(code::tables.instructions.size())) continue;
    BOOST_TEST((when_finished[i] == gradient(i)), name << " is finished after " << finished[i]);
    BOOST_TEST((overwritten[i] == gradient(i)), name << " changes after " << finished[i]);
    before_the_last += finished[i] + 1 < static_cast<int>(code::tables.instructions.size());
  }
  BOOST_TEST(before_the_last > 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(finished_gradients)

BOOST_AUTO_TEST_CASE(a_gradient_stays_after_the_instruction_that_finishes_it) {
  weft::array<std::int32_t, Batch, Pos> tokens(3, 5);
  std::int32_t next = 0;
  for (std::int32_t& t : tokens) t = 131 * next++ % 500;
  weft::array<float, Pos> weight(5);
  for (float& w : weight) w = 1.5f;
  check_finished<next_token>(arg<"tokens">(tokens), arg<"targets">(tokens), arg<"weight">(weight));
  check_finished<attending>(arg<"tokens">(tokens));
  check_finished<recurrent>(arg<"tokens">(tokens));
}

BOOST_AUTO_TEST_SUITE_END()
