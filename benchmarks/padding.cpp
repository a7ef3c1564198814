// Sentences of unlike lengths in one run of MiniLM, one after another without padding, beside as
// many of the longest one's length: the least time of several runs on one thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <models/bert.hpp>
#include <numeric>
#include <string>
#include <vector>
#include <weft/run.hpp>

namespace {

constexpr std::size_t sentences = 8, longest = 128;
using model = models::bert<models::minilm_l6, sentences * longest, sentences>;
using lengths = std::vector<std::int32_t>;

double milliseconds(weft::module<model, "embedding">& net, const lengths& of) {
  lengths begins, ends;
  for (const std::int32_t n : of) {
    begins.push_back(ends.empty() ? 0 : ends.back());
    ends.push_back(begins.back() + n);
  }
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(ends.back()), 7);
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 15; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    net(weft::arg<"tokens">(tokens), weft::arg<"begins">(begins), weft::arg<"ends">(ends));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count());
  }
  return least;
}

}  // namespace

int main() {
  weft::module<model, "embedding"> net;
  net.freeze();
  double padded = 0;  // the first row's
  std::printf("lengths                                tokens  of padded     ms  of padded\n");
  for (const lengths& of : {lengths(sentences, longest), lengths{20, 35, 51, 66, 82, 97, 113, 128},
                            lengths{20, 24, 30, 37, 46, 61, 86, 128}}) {
    const auto tokens = std::accumulate(of.begin(), of.end(), 0);
    std::string text;
    for (const std::int32_t n : of) text += (text.empty() ? "" : " ") + std::to_string(n);
    const double time = milliseconds(net, of);
    if (padded == 0) padded = time;
    std::printf("%-38s %6d %10.2f %6.1f %10.2f\n", text.c_str(), tokens,
                static_cast<double>(tokens) / (sentences * longest), time, time / padded);
  }
}
