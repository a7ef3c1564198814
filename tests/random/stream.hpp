// A random model of a stream, cut into frames, and the values of an evaluation of the whole signal
// that shares no code with weft.
#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "weft/weft.hpp"

namespace weft::testing {

// The values of the model from a file that streams.py wrote, by name.
std::map<std::string, std::vector<double>> stream_numbers(const std::string& file,
                                                          const std::string& name);
// The lengths of frames that are `positions` in all: the first that is not 0 has at least `first`,
// and all have at most `most`; 0 and 1 are among them.
std::vector<std::size_t> frames(unsigned seed, std::size_t positions, std::size_t first,
                                std::size_t most);
// Checks results of positions from `begin` on, [batch, positions, …].
void check_frame(const std::vector<double>& got, std::map<std::string, std::vector<double>>& given,
                 std::size_t batch, std::size_t begin, std::size_t positions);

// Frozen, and without attention, whose sums follow the cells of a ring, the results have the same
// bits in any frames.
template <class Model>
void check_stream(const std::string& file, const std::string& name) {
  auto given = stream_numbers(file, name);
  const auto& signal = given["x"];
  module<Model> net;
  for (std::size_t i = 0; i < net.parameters().count(); ++i) {
    const auto p = net.parameters()[i];
    const auto& from = given.at(std::string(p.name));
    BOOST_TEST_REQUIRE(from.size() == p.values.size(), p.name);
    std::transform(from.begin(), from.end(), p.values.begin(),
                   [](double x) { return static_cast<float>(x); });
  }
  std::vector<float> frozen[2];
  for (unsigned seed = 0; seed < 4; ++seed) {
    if (seed == 2) net.freeze();
    net.reset();
    std::vector<float> all;  // [position, batch, …]
    std::size_t done = 0;
    for (const std::size_t n : frames(seed, Model::positions, Model::first, Model::most)) {
      typename Model::input x(n * Model::stride);
      const std::size_t step = Model::stride * Model::width, whole = Model::positions * step;
      for (std::size_t b = 0; b < Model::batch; ++b)
        for (std::size_t i = 0; i < n * step; ++i)
          x.data()[b * n * step + i] = static_cast<float>(signal[b * whole + done * step + i]);
      const array y(net(arg<"x">(x)));
      BOOST_TEST_CONTEXT("frames " << seed << ", position " << done)
      check_frame({y.begin(), y.end()}, given, Model::batch, done, Model::positions);
      done += n;
      const std::size_t row =
          n == 0 ? 0 : static_cast<std::size_t>(y.end() - y.begin()) / n / Model::batch;
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t b = 0; b < Model::batch; ++b)
          all.insert(all.end(), y.begin() + (b * n + p) * row, y.begin() + (b * n + p + 1) * row);
    }
    if (seed >= 2) frozen[seed - 2] = all;
  }
  BOOST_TEST((Model::attends || std::ranges::equal(frozen[0], frozen[1])));
}

}  // namespace weft::testing
