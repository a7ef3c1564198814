// Talks with SmolLM2-135M-Instruct.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <thread>
#include <utility>
#include <weft/run/threads.hpp>

#include "compare.hpp"
#include "conversation.hpp"
#include "stream.hpp"
#include "support/program.hpp"

namespace chat {
namespace {

struct settings {
  std::string text;
  std::string model = CHAT_MODEL;
  std::string packed;
  std::string system;
  std::string stream, picture, compared = CHAT_TEXT;
  std::vector<std::string> beside, wide;
  bool compare = false;
  std::size_t most = 512, window = 0;
  int threads = 0;
  weft::precision weights = weft::precision::stored;
  sampling choose;
};

void turn(conversation& talk, const std::string& text, std::size_t most) {
  talk.answer(text, most, [](std::string_view part) {
    std::fwrite(part.data(), 1, part.size(), stdout);
    std::fflush(stdout);
  });
  std::printf("\n");
  const auto& n = talk.last();
  std::fprintf(stderr, "prompt: %zu tokens, %.0f tokens/s; answer: %zu tokens, %.1f tokens/s\n",
               n.prompt, static_cast<double>(n.prompt) / n.prompt_seconds, n.answer,
               static_cast<double>(n.answer) / std::max(n.answer_seconds, 1e-9));
}

void run(const settings& s) {
  const auto begin = std::chrono::steady_clock::now();
  if (!std::filesystem::exists(s.model))
    throw weft::error("--model: there is no " + s.model +
                      "; `./run chat` fetches it, or name the GGUF file of SmolLM2-135M-Instruct");
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const weights how{.precision = s.weights,
                    .threads = weft::threads(s.threads > 0 ? s.threads : std::clamp(cores, 1, 4)),
                    .packed = s.packed};
  if (s.compare) return compare(s.model, how.threads, s.compared, s.beside, s.wide);
  if (!s.stream.empty())
    return stream(s.model, how, s.stream, s.window > 0 ? s.window : most_window, s.picture);
  const weft::gguf_file file(s.model);
  conversation talk(file, how, s.choose, s.system, s.window);
  const double ready =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::string name(file.contains("general.name") ? file.text("general.name") : s.model);
  bool told = false;
  const auto tell = [&] {
    if (!std::exchange(told, true))
      std::fprintf(stderr, "%s, ready in %.2f s\n", name.c_str(), ready);
  };

  const bool at_terminal = s.text.empty() && ::isatty(0) != 0;
  if (at_terminal) tell();
  if (!s.text.empty()) turn(talk, s.text, s.most);
  for (std::string line; s.text.empty() && !talk.is_full();) {
    if (at_terminal) std::fprintf(stderr, "> ");
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    try {
      turn(talk, line, s.most);
    } catch (const weft::error& e) {
      if (!at_terminal) throw;
      std::fprintf(stderr, "%s\n", e.what());  // the next message may be a better one
    }
  }
  tell();
  if (talk.is_full())
    std::fprintf(stderr, "the cache is full: a conversation has room for %zu tokens\n",
                 conversation::capacity);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const std::size_t done = talk.tokens_done(), kept = talk.tokens_kept();
  std::fprintf(stderr,
               "%.0f MB at most, of which the cache's %zu tokens have %.0f MB; %zu tokens in all\n",
               static_cast<double>(used.ru_maxrss) / 1024, kept,
               static_cast<double>(kept * conversation::cache_bytes_per_token) / (1 << 20), done);
}

}  // namespace
}  // namespace chat

int main(int argc, char** argv) {
  chat::settings s;
  CLI::App app(
      "Talks with SmolLM2-135M-Instruct: answers a message, or the lines of standard input.",
      "chat");
  auto* const message = app.add_option(
      "message", s.text, "The message; without it, each line of standard input is one");
  app.add_option("--model", s.model, "The model's GGUF file")->capture_default_str();
  app.add_option("--packed", s.packed,
                 "A file of the packed weights: the first run makes it, later ones start from it");
  app.add_option("--system", s.system, "The system message, instead of the template's own");
  const CLI::Range windows(std::size_t{chat::most_sinks + 1}, std::size_t{chat::most_window});
  app.add_option("--window", s.window,
                 "Tokens that each sees, 4 of them the first, so that a conversation has no end")
      ->check(windows);
  auto* const text = app.add_option("--stream", s.stream,
                                    "Instead: the loss over this text, recomputed and streamed");
  app.add_option("--picture", s.picture, "Draw the losses of --stream to this PNG file")
      ->needs(text);
  text->excludes(message);
  auto* const compare =
      app.add_flag("--compare", s.compare,
                   "Instead: what it costs in quality to keep the weights in fewer bits");
  compare->excludes(message)->excludes(text);
  app.add_option("--text", s.compared, "The text that --compare predicts, 5,000 tokens at most")
      ->needs(compare)
      ->capture_default_str();
  app.add_option("--beside", s.beside, "Other GGUF files of the model, for --compare")
      ->needs(compare);
  app.add_option("--wide", s.wide, "Names of weights, as *.down_proj.*, for --compare: not in q4_0")
      ->needs(compare);
  app.add_option("--tokens", s.most, "The most tokens of an answer")
      ->check(CLI::Range(std::size_t{1}, chat::conversation::capacity))
      ->capture_default_str();
  app.add_option("--temperature", s.choose.temperature, "0: always the most likely token")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--top-k", s.choose.top_k, "Choose among the k most likely tokens; 0: all")
      ->capture_default_str();
  app.add_option("--top-p", s.choose.top_p,
                 "Choose among the most likely, whose probabilities sum to p")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--seed", s.choose.seed, "Of the choices")->capture_default_str();
  app.add_option("--threads", s.threads, "Threads; 0: one for each core, at most 4")
      ->check(CLI::Range(0, 1024));
  auto* const kept =
      app.add_option_group("Weights", "Otherwise they are kept as the file has them");
  kept->require_option(0, 1);
  for (const auto p :
       {weft::precision::float32, weft::precision::bfloat16, weft::precision::bfloat16_products,
        weft::precision::q8_0, weft::precision::q4_0, weft::precision::int8_products})
    kept->add_flag_callback(
        std::string("--") + weft::detail::name_of(p), [&s, p] { s.weights = p; },
        "Keep the weights in " + std::string(weft::detail::name_of(p)));
  return examples::run_program(app, argc, argv, [&] { chat::run(s); });
}
