#include "random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace weft::testing {

std::map<std::string, std::vector<double>> stream_numbers(const std::string& file,
                                                          const std::string& name) {
  std::ifstream in(file);
  std::string word;
  while (std::getline(in, word) && word != "model " + name) {
  }
  std::map<std::string, std::vector<double>> all;
  std::size_t count = 0;
  while (in >> word && word != "end") {
    in >> count;
    auto& x = all[word];
    x.resize(count);
    for (double& v : x) in >> v;
  }
  if (!in) throw std::runtime_error(file + " ends before or within " + name);
  return all;
}

std::vector<std::size_t> frames(unsigned seed, std::size_t positions, std::size_t first,
                                std::size_t most) {
  std::vector<std::size_t> all{0, first};
  std::size_t left = positions - first;
  const std::size_t begin[]{0, 1, most};
  for (std::size_t i = 0; left > 0; ++i) {
    seed = seed * 1664525 + 1013904223;
    const std::size_t n = i < 3 ? begin[i] : (seed >> 16) % (most + 1);
    all.push_back(std::min(n, left));
    left -= all.back();
  }
  return all;
}

void check_frame(const std::vector<double>& got, std::map<std::string, std::vector<double>>& given,
                 std::size_t batch, std::size_t begin, std::size_t positions) {
  const auto &result = given["result"], &tolerance = given["tolerance"];
  const std::size_t row = got.size() / batch, width = result.size() / batch / positions;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t at = i / row * positions * width + begin * width + i % row;
    wrong += !(std::abs(got[i] - result[at]) <= tolerance[at]);
  }
  BOOST_TEST(wrong == 0u, wrong << " of " << got.size() << " differ from the whole signal");
}

}  // namespace weft::testing
