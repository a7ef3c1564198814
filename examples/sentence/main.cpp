// Embeds sentences with MiniLM: how alike they are, and which lines of a text are nearest to them.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <weft/pictures/heat_map.hpp>

#include "embedder.hpp"
#include "support/program.hpp"

namespace sentence {
namespace {

struct settings {
  std::vector<std::string> texts;
  std::string model = SENTENCE_MODEL;
  std::string file;
  std::string picture;
  std::size_t count = 5;
  bool in_int8 = false, compare = false;
};

std::vector<std::string> lines_of(std::istream& in, const std::string& name) {
  constexpr std::size_t most = 1'000'000;
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (all.size() == most)
      throw weft::error(name + " has more than " + std::to_string(most) + " lines");
    all.push_back(std::move(line));
  }
  return all;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  auto lines = lines_of(in, file);
  if (lines.empty())
    throw weft::error("--nearest: cannot read " + file + ", or it has no lines; name a text file");
  return lines;
}

void print_cosines(const std::vector<std::string>& texts,
                   const std::vector<embedder::embedding>& all) {
  std::printf("   ");
  for (std::size_t j = 0; j < texts.size(); ++j) std::printf("  %5zu", j + 1);
  std::printf("\n");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::printf("%3zu", i + 1);
    for (std::size_t j = 0; j < texts.size(); ++j) std::printf("  %5.2f", cosine(all[i], all[j]));
    std::printf("  %s\n", texts[i].c_str());
  }
}

void draw_cosines(const std::vector<std::string>& texts,
                  const std::vector<embedder::embedding>& all, const std::string& file) {
  std::vector<float> cosines;
  for (const auto& a : all)
    for (const auto& b : all) cosines.push_back(static_cast<float>(cosine(a, b)));
  struct Row : weft::axis<weft::up_to<1'000'000>> {};
  struct Column : weft::axis<weft::up_to<1'000'000>> {};
  weft::heat_map(
      weft::view<const float, weft::shape<Row, Column>>(cosines.data(), all.size(), all.size()),
      {.cell = 24, .rows = texts, .columns = texts, .colour_bar = true})
      .save(file);
  std::printf("picture: %s\n", file.c_str());
}

void print_nearest(const std::vector<std::string>& texts,
                   const std::vector<embedder::embedding>& all,
                   const std::vector<std::string>& lines,
                   const std::vector<embedder::embedding>& of_lines, std::size_t count) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::size_t> order(lines.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto near = [&](std::size_t line) { return cosine(all[i], of_lines[line]); };
    const std::size_t shown = std::min(count, lines.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [&](std::size_t a, std::size_t b) { return near(a) > near(b); });
    std::printf("%s\n", texts[i].c_str());
    for (std::size_t n = 0; n < shown; ++n)
      std::printf("  %5.2f  line %zu: %s\n", near(order[n]), order[n] + 1, lines[order[n]].c_str());
  }
}

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// The cosines of embeddings with rounded weights to those with float32, and the best rate of three.
void compare(const std::string& model, const std::vector<std::string>& texts) {
  std::vector<embedder::embedding> right;
  std::printf("%zu texts\n%-14s %6s %9s %9s %9s %9s\n", texts.size(), "weights", "MB", "tokens/s",
              "least", "mean", "0.999 up");
  for (const auto p : {weft::precision::float32, weft::precision::bfloat16, weft::precision::q8_0,
                       weft::precision::q4_0, weft::precision::int8_products}) {
    embedder embed(model, p);
    std::vector<embedder::embedding> all;
    double seconds = 1e9, least = 1, sum = 0, near = 0;
    for (int i = 0; i < 3; ++i) {
      const auto begin = clock::now();
      all = embed.embed(texts);
      seconds = std::min(seconds, since(begin));
    }
    if (right.empty()) right = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double c = cosine(all[i], right[i]);
      least = std::min(least, c), sum += c, near += c >= 0.999;
    }
    const auto n = static_cast<double>(all.size());
    std::printf("%-14s %6.1f %9.0f %9.5f %9.5f %8.1f%%\n", weft::detail::name_of(p),
                static_cast<double>(embed.packed_bytes()) / 1e6,
                static_cast<double>(embed.tokens_done()) / 3 / seconds, least, sum / n,
                100 * near / n);
  }
}

void run(settings s) {
  if (!std::filesystem::exists(std::filesystem::path(s.model) / "model.safetensors"))
    throw weft::error("--model: there is no model.safetensors in " + s.model +
                      "; `./run sentence` fetches it, or name a folder with all-MiniLM-L6-v2");
  if (s.texts.empty()) s.texts = lines_of(std::cin, "standard input");
  if (s.texts.empty()) throw weft::error("no sentences; give some, or lines on standard input");
  if (s.compare) return compare(s.model, s.texts);
  const std::vector<std::string> lines =
      s.file.empty() ? std::vector<std::string>() : lines_of(s.file);

  const auto begin = clock::now();
  embedder embed(s.model, s.in_int8 ? weft::precision::int8_products : weft::precision::float32);
  const double loaded = since(begin);
  const auto all = embed.embed(s.texts);
  const auto of_lines = embed.embed(lines);
  const double done = since(begin) - loaded;

  if (lines.empty())
    print_cosines(s.texts, all);
  else
    print_nearest(s.texts, all, lines, of_lines, s.count);
  if (!s.picture.empty()) draw_cosines(s.texts, all, s.picture);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::fprintf(stderr, "ready in %.0f ms; %zu sentences, %.0f tokens/s; %.0f MB at most\n",
               1e3 * loaded, all.size() + of_lines.size(),
               static_cast<double>(embed.tokens_done()) / done,
               static_cast<double>(used.ru_maxrss) / 1024);
}

}  // namespace
}  // namespace sentence

int main(int argc, char** argv) {
  sentence::settings s;
  CLI::App app(
      "Embeds sentences with all-MiniLM-L6-v2, and prints the cosines of their embeddings, or the "
      "lines of a file that are nearest to each.",
      "sentence");
  app.add_option("sentence", s.texts, "The sentences; without any, the lines of standard input");
  app.add_option("--model", s.model, "The folder with model.safetensors and vocab.txt")
      ->capture_default_str();
  auto* const nearest =
      app.add_option("--nearest", s.file, "A text file: print its lines that are nearest");
  app.add_option("--count", s.count, "How many of them")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_flag("--int8", s.in_int8, "Multiply integers of 8 bits: faster, and rounded");
  app.add_flag("--compare", s.compare, "Instead: what it costs to keep the weights in fewer bits")
      ->excludes(nearest);
  app.add_option("--picture", s.picture, "Draw the cosines to this PNG file");
  return examples::run_program(app, argc, argv, [&] { sentence::run(s); });
}
