// Learns to translate dates as people write them into ISO 8601.
#include <cstdio>
#include <filesystem>
#include <string>
#include <weft/pictures/heat_map.hpp>
#include <weft/pictures/labels.hpp>
#include <weft/run/threads.hpp>
#include <weft/weft.hpp>

#include "corpus.hpp"
#include "model.hpp"
#include "settings.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"

namespace dates {
namespace {

// The date that the model outputs for a text, and its attention weights.
using translator = weft::module<model, "written", "weights">;

auto run(translator& net, const batch& b) {
  return net(weft::arg<"text">(b.text), weft::arg<"valid">(b.valid), weft::arg<"date">(b.date));
}

std::vector<std::string> translate(translator& net, std::span<const std::string> texts) {
  std::vector<std::string> translations;
  while (!texts.empty()) {
    const auto some = texts.first(std::min(texts.size(), Batch::extent));
    const auto written = run(net, batch(some)).get<"written">();
    for (std::size_t b = 0; b < some.size(); ++b) {
      std::string& translation = translations.emplace_back();
      for (std::size_t s = 0; s < Step::extent; ++s)
        translation += symbols[static_cast<std::size_t>(written(b, s))];
    }
    texts = texts.subspan(some.size());
  }
  return translations;
}

// Translates texts of held-out days. Prints the first few; returns how many are correct.
std::size_t examine(translator& net, std::span<const date> days, random_engine& random) {
  constexpr std::size_t shown = 12;
  std::vector<std::string> texts;
  for (const date day : days) texts.push_back(write_somehow(day, random).text);
  const auto translations = translate(net, texts);
  std::size_t right = 0;
  for (std::size_t i = 0; i < days.size(); ++i) {
    const std::string wanted = iso(days[i]);
    const bool same = translations[i] == wanted;
    right += same;
    if (i < shown)
      std::printf("  %s  %s%s\n", translations[i].c_str(), texts[i].c_str(),
                  same ? "" : (", and " + wanted + " is right").c_str());
  }
  return right;
}

// Draws the attention weights of each symbol over the characters of the text.
void draw(translator& net, const std::string& text, const std::filesystem::path& file) {
  const std::string translation = translate(net, {&text, 1}).front();
  const auto weights = run(net, batch(std::span(&text, 1))).get<"weights">();
  weft::heat_map(weights.at<Batch>(0), {.cell = 16,
                                        .down = "date",
                                        .across = "text",
                                        .rows = weft::characters(translation),
                                        .columns = weft::characters(text),
                                        .colour_bar = true})
      .save(file.string());
}

void run(const settings& s) {
  check(s);
  const std::filesystem::path folder = s.pictures;

  random_engine random(s.seed);
  const split days(random);
  const weft::executor threads = weft::threads(s.threads);
  weft::trainer<model> trainer(
      weft::adamw{.learning_rate = s.learning_rate, .beta2 = 0.99},
      {.clip_norm = 1,
       .schedule = weft::warmup_cosine{.warmup = 50, .total = s.steps, .floor = 0.02},
       .seed = s.seed});
  trainer.run_on(threads);
  std::printf("%zu days to learn, %zu held out; %zu parameters, %.1f MB of workspace\n",
              days.train.size(), days.held_out.size(), trainer.parameters().elements(),
              static_cast<double>(trainer.workspace_bytes) / 1e6);
  std::fflush(stdout);

  reader batches(days.train, s.batch, random);
  examples::progress_line progress(s.steps, "dates");
  double speed = 0;
  for (long step = 1; step <= s.steps; ++step) {
    const batch b = batches.next();
    const float loss = trainer.step(weft::arg<"text">(b.text), weft::arg<"valid">(b.valid),
                                    weft::arg<"date">(b.date));
    speed = static_cast<double>(step) * static_cast<double>(s.batch) / progress.seconds();
    progress.step(step, loss, speed);
  }
  progress.finish();
  const double seconds = progress.seconds();

  translator net(trainer.parameters());
  net.run_on(threads);
  const auto translations = translate(net, s.texts);
  for (std::size_t i = 0; i < s.texts.size(); ++i)
    std::printf("  %s  %s\n", translations[i].c_str(), s.texts[i].c_str());
  std::printf("held out:\n");
  const std::size_t right = examine(net, days.held_out, random);
  const auto picture = folder / "dates-alignment.png";
  draw(net, s.texts.front(), picture);
  std::printf("picture: %s\n", picture.c_str());
  std::printf("held-out: %.2f%% exact (%zu of %zu)  training: %.1f s  dates/s: %.0f\n",
              100 * static_cast<double>(right) / static_cast<double>(days.held_out.size()), right,
              days.held_out.size(), seconds, speed);
}

}  // namespace
}  // namespace dates

int main(int argc, char** argv) {
  dates::settings s;
  CLI::App app("Learns to translate dates as people write them into ISO 8601.", "dates");
  dates::add_options(app, s);
  return examples::run_program(app, argc, argv, [&] { dates::run(s); });
}
