// Trains a small transformer on the bytes of a text, and samples from it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <weft/io/heat_map.hpp>
#include <weft/io/labels.hpp>

#include "baseline.hpp"
#include "model.hpp"
#include "settings.hpp"
#include "support/corpus.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "text.hpp"

namespace char_lm {
namespace {

using net = model<>;

constexpr double least_gain = 0.25;  // nats per byte below the bigram's loss

std::string write(const weft::parameters<net>& parameters, const settings& s) {
  weft::module<net, "logits"> model(parameters);
  std::mt19937_64 random(s.seed);
  std::string text = s.prompt;
  for (std::size_t n = 0; n < s.sample; ++n)
    text.push_back(next_byte(model, text, s.temperature, random));
  return text;
}

// Draws the learned position encoding, and the weights of the last layer's first head, query down
// and key across.
void draw(const weft::parameters<net>& parameters, std::span<const std::int32_t> text,
          const std::filesystem::path& folder) {
  weft::draw_heat_map(parameters.get<"positions.weight", Pos, Embed>(),
                      {.palette = weft::colours::diverging,
                       .down = "position",
                       .across = "dimension",
                       .rows = weft::indices(Pos::extent),
                       .columns = weft::indices(Embed::extent),
                       .colour_bar = true})
      .write((folder / "char_lm-positions.png").string());
  weft::module<net, "weights"> model(parameters);
  windows<net> w(1, 64);
  w.set(0, text, 0);
  std::string read;
  for (std::size_t p = 0; p < 64; ++p)
    read += w.in(0, p) == '\n' ? "↵" : std::string(1, static_cast<char>(w.in(0, p)));
  auto const labels = weft::characters(read);
  auto const weights = model(weft::arg<"tokens">(w.in)).get<"weights">();
  weft::draw_heat_map(weights.at<Batch>(0).at<Heads>(0), {.cell = 16,
                                                          .down = "query",
                                                          .across = "key",
                                                          .rows = labels,
                                                          .columns = labels,
                                                          .colour_bar = true})
      .write((folder / "char_lm-attention.png").string());
}

// Trains, measures, writes and draws. Whether the model has learned more than to count pairs: its
// held-out loss is at least 0.25 nats per byte below the bigram's.
bool run(const settings& s) {
  check(s);
  examples::corpus const text = examples::read_corpus(s.text, Pos::extent + 1);

  weft::trainer<net> trainer(optimizer(s.learning_rate), training(s.steps), s.seed);
  std::printf("%s: %zu bytes to learn, %zu held out; %zu parameters, %.1f MB of workspace\n",
              s.text.c_str(), text.train().size(), text.held_out().size(),
              trainer.parameters().elements(), static_cast<double>(trainer.workspace_bytes) / 1e6);
  std::fflush(stdout);

  // The progress shows the loss on the first held-out windows; what counts is that on all of them.
  weft::module<net, "loss"> measure(trainer.parameters());
  auto const some =
      text.held_out().first(std::min(text.held_out().size(), 4 * Batch::extent * Pos::extent + 1));
  long const pause = std::max(s.steps / 10, 1L);
  windows<net> w(s.batch, Pos::extent);
  std::mt19937_64 random(s.seed);
  std::uniform_int_distribution<std::size_t> begin(0, text.train().size() - Pos::extent - 1);
  examples::progress_line progress(s.steps, "tokens");
  double speed = 0;
  for (long step = 1; step <= s.steps; ++step) {
    for (std::size_t b = 0; b < s.batch; ++b) w.set(b, text.train(), begin(random));
    float const l = trainer.step(weft::arg<"tokens">(w.in), weft::arg<"targets">(w.target));
    double const now = progress.seconds();
    speed = static_cast<double>(step) * static_cast<double>(w.in.size()) / now;
    progress.step(step, l, speed);
    if (step % pause != 0) continue;
    progress.finish();
    std::fprintf(stderr, "step %ld of %ld  loss %.3f  held-out %.3f  %.0f s left\n", step, s.steps,
                 static_cast<double>(l), loss(measure, some),
                 now / static_cast<double>(step) * static_cast<double>(s.steps - step));
  }

  double const held_out = loss(measure, text.held_out());
  baseline const counted = count(text.train(), text.held_out());
  std::printf("\n%s\n\n", write(trainer.parameters(), s).c_str());
  draw(trainer.parameters(), text.held_out(), s.pictures);
  std::printf("pictures: %s\n",
              (std::filesystem::path(s.pictures) / "char_lm-{positions,attention}.png").c_str());
  double const gain = counted.bigram - held_out;
  bool const learned = gain >= least_gain;
  std::printf("the held-out loss is %.4f nats/char %s the bigram's%s\n", std::abs(gain),
              gain < 0 ? "above" : "below",
              learned ? "" : "; at least 0.25 below was expected, which takes more --steps");
  std::printf("held-out: %.4f nats/char  unigram: %.4f  bigram: %.4f  tokens/s: %.0f\n", held_out,
              counted.unigram, counted.bigram, speed);
  return learned;
}

}  // namespace
}  // namespace char_lm

int main(int argc, char** argv) {
  char_lm::settings s;
  CLI::App app("Trains a small transformer on the bytes of a text, and lets it write.", "char_lm");
  char_lm::add_options(app, s);
  bool learned = true;  // where nothing runs, as with --help
  int const status = examples::run_program(app, argc, argv, [&] { learned = char_lm::run(s); });
  return status == 0 && !learned ? 1 : status;
}
