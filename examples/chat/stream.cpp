#include "stream.hpp"

#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <weft/pictures/line_chart.hpp>

#include "support/program.hpp"
#include "support/progress.hpp"

namespace chat {

namespace {

constexpr std::size_t most_tokens = 20'000;
constexpr std::size_t least_blocks = 32;  // of tokens whose windows are recomputed
constexpr std::size_t bins = 30;          // of the picture, each of them with a block or more

// One way to predict the text: the losses of the tokens, NaN where they are not known.
struct way {
  std::string name;
  std::vector<float> losses;
  double tokens_per_second;
};

// The mean of those from begin on that are known, and that the other knows, too.
double mean(const way& of, const way& other, std::size_t begin, std::size_t end) {
  double sum = 0, count = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (!std::isnan(of.losses[i]) && !std::isnan(other.losses[i]))
      sum += static_cast<double>(of.losses[i]), ++count;
  return sum / count;
}

double peak_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

std::string read_text(const std::string& file, std::size_t window) {
  std::string text = text_of("--stream", file, most_tokens);
  if (text.size() <= window)
    throw weft::error("--stream: " + file + " has " + std::to_string(text.size()) +
                      " bytes; more tokens than the window's " + std::to_string(window) +
                      " are needed");
  return text;
}

template <class Work>
way timed(std::string name, std::size_t size, std::size_t steps, const Work& work) {
  std::fprintf(stderr, "%s\n", name.c_str());
  way of{std::move(name), std::vector<float>(size, std::numeric_limits<float>::quiet_NaN()), 0};
  examples::progress_line line(static_cast<long>(steps), "tokens");
  const std::size_t predicted = work(of.losses, [&](std::size_t done, float loss) {
    line.step(static_cast<long>(done), loss, static_cast<double>(done) / line.seconds());
  });
  line.finish();
  of.tokens_per_second = static_cast<double>(predicted) / line.seconds();
  return of;
}

void print(const std::vector<way>& ways, std::size_t tokens, const std::string& text,
           std::size_t window) {
  std::printf("%zu tokens of %s, each of which sees %zu; nats per token beyond the first %zu:\n",
              tokens, text.c_str(), window, window);
  std::printf("%-10s %8s %14s %10s %9s\n", "", "sampled", "to recomputed", "all", "tokens/s");
  const std::size_t size = tokens - 1;
  const double recomputed = mean(ways[0], ways[0], window, size);
  for (const way& w : ways) {
    const double sampled = mean(w, ways[0], window, size);
    std::printf("%-10s %8.3f %+13.1f%% ", w.name.c_str(), sampled,
                100 * (sampled / recomputed - 1));
    if (&w == ways.data())
      std::printf("%10s", "");
    else
      std::printf("%10.3f", mean(w, w, window, size));
    std::printf(" %9.1f\n", w.tokens_per_second);
  }
}

// The tokens that all ways know.
void draw(const std::vector<way>& ways, std::size_t window, const std::string& picture) {
  const std::size_t size = ways[0].losses.size(), each = (size + bins - 1) / bins;
  std::vector<weft::line> lines;
  for (const way& w : ways) {
    lines.push_back({w.name, {}});
    for (std::size_t begin = 0; begin < size; begin += each)
      lines.back().values.push_back(mean(w, ways[0], begin, std::min(size, begin + each)));
  }
  weft::line_chart(lines, {.title = "SmolLM2-135M, window of " + std::to_string(window),
                           .down = "nats per token",
                           .across = "token",
                           .first = static_cast<double>(each) / 2,
                           .step = static_cast<double>(each),
                           .scale = 2})
      .save(picture);
}

}  // namespace

std::string text_of(const std::string& option, const std::string& file, std::size_t tokens) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw weft::error(option + ": cannot read " + file);
  const std::size_t most = tokens * 64;  // an upper bound of their bytes
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() == most) text.resize(whole_characters(text));
  if (text.empty()) throw weft::error(option + ": " + file + " is empty, or no file");
  return text;
}

void stream(const std::string& model, const weights& how, const std::string& text_file,
            std::size_t window, const std::string& picture) {
  const std::filesystem::path drawn = std::filesystem::path(picture).parent_path();
  if (!drawn.empty()) examples::check_folder("--picture", drawn);
  const std::string text = read_text(text_file, window);
  const weft::gguf_file file(model);
  std::vector<std::int32_t> tokens = tokenizer_of(file).tokens_of_plain(text);
  tokens.resize(std::min(tokens.size(), most_tokens));
  const std::size_t block = std::max<std::size_t>(1, window / 32);
  const std::size_t blocks = least_blocks * most_window / window;
  if (tokens.size() <= window + block)
    throw weft::error("--stream: " + text_file + " has " + std::to_string(tokens.size()) +
                      " tokens; more than the window's " + std::to_string(window) + " and " +
                      std::to_string(block) + " are needed");
  weft::module<smollm2_in_window<128>, "losses"> net(source_of(file, {}), how.precision,
                                                     how.threads);

  const std::size_t size = tokens.size() - 1;
  const std::size_t full = std::min(size, smollm2_in_window<128>::Recent::extent);
  double memory = 0;
  const auto rolling = [&](std::string name, std::int32_t sinks) {
    return timed(std::move(name), size, size, [&](std::vector<float>& losses, const auto& tell) {
      const seen what{static_cast<std::int32_t>(window) - sinks, sinks};
      losses = losses_of(net, tokens, what, [&](std::size_t done, float loss) {
        if (memory == 0 && done >= full) memory = peak_memory();
        tell(done, loss);
      });
      return size;
    });
  };
  std::vector<way> ways;
  ways.push_back(rolling(std::to_string(most_sinks) + " sinks", most_sinks));
  ways.push_back(rolling("no sinks", 0));
  const double at_end = peak_memory();
  const auto recompute = [&](std::vector<float>& losses, const auto& tell) {
    // Tokens within the first window see all before them in any way.
    std::copy_n(ways[0].losses.begin(), window, losses.begin());
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t begin = window + b * (size - block - window) / (blocks - 1);
      const auto of = recomputed_losses(net, tokens, begin, block, window);
      std::ranges::copy(of, losses.begin() + static_cast<std::ptrdiff_t>(begin));
      tell((b + 1) * block, of.back());
    }
    return blocks * block;
  };
  ways.insert(ways.begin(), timed("recomputed", size, blocks * block, recompute));

  print(ways, tokens.size(), text_file, window);
  std::printf("sampled: %zu times %zu tokens, recomputed from %zu to %zu tokens\n", blocks, block,
              window - block + 1, window);
  std::printf("memory: %.0f MB at most after %zu tokens, %.0f MB after %zu\n", memory, full, at_end,
              size);
  if (!picture.empty()) draw(ways, window, picture);
}

}  // namespace chat
