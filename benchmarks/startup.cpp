// Start-up: from the beginning of a process to the first embedding of a sentence by MiniLM, with
// parameters in a safetensors file. benchmarks/startup.py runs it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <models/bert.hpp>
#include <string>
#include <vector>
#include <weft/files/load.hpp>

namespace {

using model = models::bert<models::minilm_l6>;

// The sentence of all contenders: 12 tokens.
const std::vector<std::int32_t> sentence{101,   1037, 4937,  7719, 2006, 1996,
                                         13523, 1998, 12191, 2012, 1996, 102};

// The most memory that the process had. getrusage would count that of the process which started it.
double most_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

void run(const std::string& file, bool frozen) {
  const auto begin = std::chrono::steady_clock::now();
  weft::module<model, "embedding"> net(weft::weights(file, {.ignore_others = true}));
  if (frozen) net.freeze();
  const std::vector<std::int32_t> begins{0}, ends{static_cast<std::int32_t>(sentence.size())};
  const auto y =
      net(weft::arg<"tokens">(sentence), weft::arg<"begins">(begins), weft::arg<"ends">(ends))
          .get<"embedding">();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.6f %.1f", seconds, most_megabytes());
  for (std::size_t e = 0; e < 4; ++e) std::printf(" %.6f", static_cast<double>(y(0, e)));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  bool frozen = false, writes = false;
  CLI::App app(
      "Prints the seconds to the first embedding, the megabytes at most, and numbers of it.");
  app.add_option("file", file, "all-MiniLM-L6-v2, or a file of such parameters")->required();
  app.add_flag("--frozen", frozen, "Pack the weights before the first run");
  app.add_flag("--write", writes, "Write a file of random parameters instead");
  CLI11_PARSE(app, argc, argv);
  try {
    if (writes)
      weft::save(weft::parameters<model>({.seed = 1}), file);
    else
      run(file, frozen);
    return 0;
  } catch (const weft::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
