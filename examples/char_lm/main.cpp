// Trains a small transformer on the bytes of a text, and samples from it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <weft/files/load.hpp>
#include <weft/pictures/heat_map.hpp>
#include <weft/pictures/labels.hpp>
#ifdef WEFT_WITH_MPI
#include <weft/mpi/checkpoint.hpp>
#endif

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
  weft::heat_map(parameters.get<"positions.weight", Pos, Embed>(),
                 {.palette = weft::colours::diverging,
                  .down = "position",
                  .across = "dimension",
                  .rows = weft::indices(Pos::extent),
                  .columns = weft::indices(Embed::extent),
                  .colour_bar = true})
      .save((folder / "char_lm-positions.png").string());
  weft::module<net, "weights"> model(parameters);
  windows<net> w(1, 64);
  w.set(0, text, 0);
  std::string read;
  for (std::size_t p = 0; p < 64; ++p)
    read += w.in(0, p) == '\n' ? "↵" : std::string(1, static_cast<char>(w.in(0, p)));
  const auto labels = weft::characters(read);
  const auto weights = model(weft::arg<"tokens">(w.in)).get<"weights">();
  weft::heat_map(weights.at<Batch>(0).at<Heads>(0), {.cell = 16,
                                                     .down = "query",
                                                     .across = "key",
                                                     .rows = labels,
                                                     .columns = labels,
                                                     .colour_bar = true})
      .save((folder / "char_lm-attention.png").string());
}

// Which windows of a batch this process has, whether it is the one that reports, and whether all go
// on from a checkpoint.
struct place {
  std::size_t begin, end;
  bool reports, resumes;
};

// Takes the steps that are left, and returns the tokens of a second, all processes together.
template <class Trainer>
double train(Trainer& trainer, const place& own, const examples::corpus& text, const settings& s) {
  // The progress shows the loss on the first held-out windows; what counts is that on all of them.
  weft::module<net, "loss"> measure(trainer.parameters());
  const auto some =
      text.held_out().first(std::min(text.held_out().size(), 4 * Batch::extent * Pos::extent + 1));
  const long pause = std::max(s.steps / 10, 1L);
  windows<net> w(own.end - own.begin, Pos::extent);
  std::mt19937_64 random(s.seed);
  std::uniform_int_distribution<std::size_t> begin(0, text.train().size() - Pos::extent - 1);
  const long before = static_cast<long>(trainer.steps());
  examples::progress_line progress(s.steps, "tokens");
  double speed = 0;
  for (long step = 1; step <= s.steps; ++step) {
    // All windows are drawn, also those of other processes and of steps before the checkpoint.
    for (std::size_t b = 0; b < s.batch; ++b) {
      const std::size_t at = begin(random);
      if (own.begin <= b && b < own.end) w.set(b - own.begin, text.train(), at);
    }
    if (step <= before) continue;
    const float l = trainer.step(weft::arg<"tokens">(w.in), weft::arg<"targets">(w.target));
    const double now = progress.seconds();
    const double each = now / static_cast<double>(step - before);
    speed = static_cast<double>(s.batch * Pos::extent) / each;
    const bool pauses = step % pause == 0;
    if (pauses && !s.checkpoint.empty()) weft::save(trainer, s.checkpoint);
    if (!own.reports) continue;
    progress.step(step, l, speed);
    if (!pauses) continue;
    progress.finish();
    std::fprintf(stderr, "step %ld of %ld  loss %.3f  held-out %.3f  %.0f s left\n", step, s.steps,
                 static_cast<double>(l), loss(measure, some),
                 each * static_cast<double>(s.steps - step));
  }
  return speed;
}

// Measures, writes and draws. Whether the model has learned more than to count pairs: its held-out
// loss is at least 0.25 nats per byte below the bigram's.
bool report(const weft::parameters<net>& parameters, double speed, const examples::corpus& text,
            const settings& s) {
  weft::module<net, "loss"> measure(parameters);
  const double held_out = loss(measure, text.held_out());
  const baseline counted = count(text.train(), text.held_out());
  std::printf("\n%s\n\n", write(parameters, s).c_str());
  draw(parameters, text.held_out(), s.pictures);
  std::printf("pictures: %s\n",
              (std::filesystem::path(s.pictures) / "char_lm-{positions,attention}.png").c_str());
  const double gain = counted.bigram - held_out;
  const bool learned = gain >= least_gain;
  std::printf("the held-out loss is %.4f nats/char %s the bigram's%s\n", std::abs(gain),
              gain < 0 ? "above" : "below",
              learned ? "" : "; at least 0.25 below was expected, which takes more --steps");
  std::printf("held-out: %.4f nats/char  unigram: %.4f  bigram: %.4f  tokens/s: %.0f\n", held_out,
              counted.unigram, counted.bigram, speed);
  return learned;
}

// Trains, and returns whether the model has learned.
template <class Trainer>
bool run(Trainer& trainer, const place& own, const examples::corpus& text, const settings& s) {
  if (own.reports) {
    std::printf("%s: %zu bytes to learn, %zu held out; %zu parameters, %.1f MB of workspace\n",
                s.text.c_str(), text.train().size(), text.held_out().size(),
                trainer.parameters().elements(),
                static_cast<double>(weft::trainer<net>::workspace_bytes) / 1e6);
    std::fflush(stdout);
  }
  if (own.resumes) weft::load(trainer, s.checkpoint);
  const double speed = train(trainer, own, text, s);
  return !own.reports || report(trainer.parameters(), speed, text, s);
}

bool has_checkpoint(const settings& s) {
  return !s.checkpoint.empty() && std::filesystem::exists(s.checkpoint);
}

bool run(const settings& s) {
  check(s);
  const examples::corpus text = examples::read_corpus(s.text, Pos::extent + 1);
  weft::trainer<net> trainer(optimizer(s.learning_rate), training(s.steps, s.seed));
  return run(trainer, {0, s.batch, true, has_checkpoint(s)}, text, s);
}

#ifdef WEFT_WITH_MPI
// The same on the ranks of mpirun: each has its part of every batch.
bool run_on(const weft::communicator& ranks, const examples::corpus& text, const settings& s) {
  weft::distributed<net, Batch> trainer(ranks, optimizer(s.learning_rate),
                                        training(s.steps, s.seed));
  const auto part = trainer.part(s.batch);
  // Rank 0 reads and writes the checkpoint; other hosts may not have it.
  const bool resumes = ranks.all(has_checkpoint(s)).front();
  return run(trainer, {part.begin, part.end, ranks.rank() == 0, resumes}, text, s);
}
#endif

}  // namespace
}  // namespace char_lm

int main(int argc, char** argv) {
  char_lm::settings s;
  CLI::App app("Trains a small transformer on the bytes of a text, and lets it write.", "char_lm");
  char_lm::add_options(app, s);
  bool learned = true;  // where nothing runs, as with --help
  const int status = examples::run_program(app, argc, argv, [&] {
#ifdef WEFT_WITH_MPI
    if (s.mpi) {
      // Wrong input is refused before there are ranks.
      char_lm::check(s);
      const auto text = examples::read_corpus(s.text, char_lm::Pos::extent + 1);
      learned = weft::mpi_main(argc, argv, [&](const weft::communicator& ranks) {
                  return char_lm::run_on(ranks, text, s) ? 0 : 1;
                }) == 0;
      return;
    }
#endif
    if (s.mpi) throw weft::error("--mpi: MPI was not found when this program was built");
    learned = char_lm::run(s);
  });
  return status == 0 && !learned ? 1 : status;
}
