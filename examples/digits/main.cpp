// Learns to classify handwritten digits, with and without positions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <weft/pictures/heat_map.hpp>
#include <weft/pictures/line_chart.hpp>
#include <weft/run/threads.hpp>
#include <weft/weft.hpp>

#include "data.hpp"
#include "model.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"

namespace digits {
namespace {

struct settings {
  std::string data = DIGITS_DATA;
  std::string pictures = ".";
  long epochs = 100;
  std::size_t batch = 16;
  double learning_rate = 1e-3;
  std::uint64_t seed = 1;
  int threads = 1;
};

struct images {
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;
  void add(const digit& d) {
    pixels.insert(pixels.end(), d.pixels.begin(), d.pixels.end());
    labels.push_back(d.label);
  }
};

// A digit moved by up to a pixel in each direction.
digit moved(const digit& d, std::mt19937_64& random) {
  std::uniform_int_distribution<int> step(-1, 1);
  const int down = step(random), across = step(random);
  digit to{{}, d.label};
  for (int r = std::max(0, down); r < std::min(8, 8 + down); ++r)
    for (int c = std::max(0, across); c < std::min(8, 8 + across); ++c)
      to.pixels[static_cast<std::size_t>(8 * r + c)] =
          d.pixels[static_cast<std::size_t>(8 * (r - down) + c - across)];
  return to;
}

// How often each class, the row, was taken for each, the column.
using confusion = std::array<std::array<int, 10>, 10>;

template <class Model>
confusion examine(const weft::parameters<Model>& parameters, std::span<const digit> held_out) {
  weft::module<Model, "logits"> net(parameters);
  confusion seen{};
  while (!held_out.empty()) {
    const auto some = held_out.first(std::min(held_out.size(), Batch::extent));
    images all;
    for (const digit& d : some) all.add(d);
    const auto logits = net(weft::arg<"image">(all.pixels)).template get<"logits">();
    for (std::size_t b = 0; b < some.size(); ++b) {
      const auto row = logits.template at<Batch>(b);
      std::size_t best = 0;
      for (std::size_t c = 1; c < 10; ++c)
        if (row(c) > row(best)) best = c;
      ++seen[static_cast<std::size_t>(some[b].label)][best];
    }
    held_out = held_out.subspan(some.size());
  }
  return seen;
}

int right_of(const confusion& seen) {
  int n = 0;
  for (std::size_t c = 0; c < 10; ++c) n += seen[c][c];
  return n;
}

struct outcome {
  std::vector<double> losses;  // the mean of each epoch
  confusion seen;
  double seconds;
};

template <class Model>
outcome train(weft::trainer<Model>& trainer, const split& data, const settings& s) {
  std::mt19937_64 random(s.seed);
  std::vector<std::size_t> order(data.train.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto batches = static_cast<long>((order.size() + s.batch - 1) / s.batch);
  examples::progress_line progress(batches * s.epochs, "digits");
  outcome result{};
  for (long epoch = 0, step = 0; epoch < s.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    for (std::size_t first = 0; first < order.size(); first += s.batch) {
      images some;
      for (std::size_t i = first; i < std::min(order.size(), first + s.batch); ++i)
        some.add(moved(data.train[order[i]], random));
      const float loss =
          trainer.step(weft::arg<"image">(some.pixels), weft::arg<"label">(some.labels));
      sum += static_cast<double>(loss);
      ++step;
      progress.step(step, loss,
                    static_cast<double>(step) * static_cast<double>(s.batch) / progress.seconds());
    }
    result.losses.push_back(sum / static_cast<double>(batches));
  }
  progress.finish();
  result.seconds = progress.seconds();
  const auto last = result.losses.size() - 1;
  std::printf("loss of epoch");
  for (const std::size_t epoch : {std::size_t{0}, (last + 1) / 10, (last + 1) / 2, last})
    std::printf("  %zu: %.4f", epoch + 1, result.losses[epoch]);
  std::printf("\n");
  result.seen = examine(trainer.parameters(), data.held_out);
  return result;
}

template <class Model>
weft::trainer<Model> trainer_of(const split& data, const settings& s) {
  const auto batches = static_cast<long>((data.train.size() + s.batch - 1) / s.batch);
  weft::trainer<Model> trainer(
      weft::adamw{.learning_rate = s.learning_rate},
      {.clip_norm = 1,
       .schedule = weft::warmup_cosine{.warmup = 50, .total = batches * s.epochs, .floor = 0.01},
       .seed = s.seed});
  trainer.run_on(weft::threads(s.threads));
  return trainer;
}

void print(const confusion& seen) {
  std::printf("held out, as      0    1    2    3    4    5    6    7    8    9\n");
  for (std::size_t c = 0; c < 10; ++c) {
    std::printf("  the digit %zu ", c);
    for (const int n : seen[c]) n == 0 ? std::printf("    .") : std::printf("%5d", n);
    std::printf("\n");
  }
}

void draw(const weft::picture& picture, const std::filesystem::path& file) {
  picture.save(file.string());
  std::printf("picture: %s\n", file.c_str());
}

// The first digits held out, and below each how much attention each of its places gets.
void draw_attention(const weft::parameters<model<>>& parameters, std::span<const digit> some,
                    const std::filesystem::path& file) {
  weft::module<model<>, "weights"> net(parameters);
  images all;
  for (const digit& d : some) all.add(d);
  const auto weights = net(weft::arg<"image">(all.pixels)).get<"weights">();
  const std::size_t count = some.size(), width = 9 * count - 1;
  std::vector<double> cells(17 * width, std::nan(""));
  for (std::size_t b = 0; b < count; ++b) {
    std::array<double, 16> given{};
    for (std::size_t p = 0; p < 16; ++p)
      for (std::size_t h = 0; h < 4; ++h)
        for (std::size_t k = 0; k < 16; ++k)
          given[k] +=
              static_cast<double>(weights.at<Batch>(b).at<Pos>(p).at<Heads>(h)(k) / (16 * 4));
    const double most = *std::ranges::max_element(given);
    for (std::size_t r = 0; r < 8; ++r)
      for (std::size_t c = 0; c < 8; ++c) {
        cells[r * width + 9 * b + c] = static_cast<double>(some[b].pixels[8 * r + c]);
        cells[(r + 9) * width + 9 * b + c] = given[r / 2 * 4 + c / 2] / most;
      }
  }
  draw(weft::heat_map(weft::grid(cells, 17, width), {.cell = 8}), file);
}

// The cosines of the learned positions.
void draw_positions(const weft::parameters<model<>>& parameters,
                    const std::filesystem::path& file) {
  const auto table = parameters.get<"positions.weight", Pos, Embed>();
  const auto dot = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t e = 0; e < Embed::extent; ++e)
      sum += static_cast<double>(table(a, e)) * static_cast<double>(table(b, e));
    return sum;
  };
  // One map of 4 × 4 for each place, where that place is.
  std::vector<double> cells(19 * 19, std::nan(""));
  for (std::size_t a = 0; a < 16; ++a)
    for (std::size_t b = 0; b < 16; ++b)
      cells[(a / 4 * 5 + b / 4) * 19 + a % 4 * 5 + b % 4] =
          dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
  draw(weft::heat_map(weft::grid(cells, 19, 19), {.palette = weft::colours::diverging,
                                                  .cell = 14,
                                                  .title = "cosines of the learned positions",
                                                  .colour_bar = true}),
       file);
}

void run(const settings& s) {
  examples::check_folder("--pictures", s.pictures);
  if (std::isnan(s.learning_rate)) throw weft::error("--learning-rate: nan is not a number");
  if (!std::filesystem::exists(s.data))
    throw weft::error("--data: there is no " + s.data +
                      "; `./run digits` fetches it, or name scikit-learn's digits.csv");
  const split data = read_digits(s.data);
  auto trainer = trainer_of<model<>>(data, s);
  std::printf("%zu digits to learn, %zu held out; %zu parameters\n", data.train.size(),
              data.held_out.size(), trainer.parameters().elements());
  std::fflush(stdout);
  const outcome with = train(trainer, data, s);
  print(with.seen);

  std::printf("without positions:\n");
  std::fflush(stdout);
  auto other = trainer_of<model<false>>(data, s);
  const outcome without = train(other, data, s);

  const std::filesystem::path folder = s.pictures;
  draw_attention(trainer.parameters(),
                 std::span(data.held_out).first(std::min<std::size_t>(10, data.held_out.size())),
                 folder / "digits-attention.png");
  draw_positions(trainer.parameters(), folder / "digits-positions.png");
  draw(weft::line_chart({{"with positions", with.losses}, {"without", without.losses}},
                        {.title = "training loss", .down = "nats", .across = "epoch", .first = 1}),
       folder / "digits-loss.png");
  const auto percent = [&](const outcome& o) {
    return 100.0 * right_of(o.seen) / static_cast<double>(data.held_out.size());
  };
  std::printf("held-out: %.2f%% right, without positions %.2f%%  training: %.1f s and %.1f s\n",
              percent(with), percent(without), with.seconds, without.seconds);
}

}  // namespace
}  // namespace digits

int main(int argc, char** argv) {
  digits::settings s;
  CLI::App app("Learns to classify handwritten digits of 8 x 8 pixels.", "digits");
  app.add_option("--data", s.data, "scikit-learn's digits.csv")->capture_default_str();
  app.add_option("--epochs", s.epochs, "how often each digit is learned from")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--batch", s.batch, "digits per training step")
      ->check(CLI::Range(std::size_t{1}, digits::Batch::extent))
      ->capture_default_str();
  app.add_option("--learning-rate", s.learning_rate, "peak learning rate of AdamW")
      ->check(CLI::Range(1e-8, 1.0))
      ->capture_default_str();
  app.add_option("--threads", s.threads, "threads to train on; the results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--pictures", s.pictures, "the folder for the pictures")->capture_default_str();
  app.add_option("--seed", s.seed, "seed of all random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { digits::run(s); });
}
