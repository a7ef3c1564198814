// Compares encodings of positions: what a small transformer learns with each.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "properties.hpp"
#include "report.hpp"
#include "study.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"

namespace positions {
namespace {

struct arguments {
  std::vector<std::string> encodings, tasks;
  std::string text = EXAMPLES_CORPUS;
  std::string out = ".";
  long steps = 10000;
  std::uint64_t seed = 1;
  int threads = 1;
  bool quick = false;
  bool properties = false;
};

constexpr long quick_steps = 600;

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  if (!(out << text).flush()) throw weft::error("cannot write " + file.string());
}

void run(const arguments& a) {
  std::filesystem::path const folder = a.out;
  if (!std::filesystem::is_directory(folder))
    throw weft::error("--out: " + a.out + " is not a folder");
  settings s{contestants(), tasks(examples::read_corpus(a.text, longest_text + 1)),
             a.quick ? quick_steps : a.steps, a.seed, a.threads};
  auto const named = [](const std::vector<std::string>& names) {
    return [&](const auto& x) {
      return !names.empty() && std::ranges::find(names, x.name) == names.end();
    };
  };
  std::erase_if(s.contestants, named(a.encodings));
  std::erase_if(s.tasks, named(a.tasks));

  long const steps = static_cast<long>(s.contestants.size() * s.tasks.size()) * s.steps;
  examples::progress_line progress(steps, "steps");
  auto const found = run_study(s, [&](long done, float loss) {
    progress.step(done, loss, static_cast<double>(done) / progress.seconds());
  });
  progress.finish();

  table const t(s, found);
  std::fputs(t.text().c_str(), stdout);
  write(folder / "positions.tsv", t.tsv());
  auto const page = (folder / "positions.html").string();
  write_page(s, found, a.out).write(page);
  std::printf("page: %s\n", page.c_str());
}

void print_properties() {
  std::printf("%-18s", "");
  for (auto const name : property_names) std::printf("  %13s", std::string(name).c_str());
  for (properties const& p : properties_of_encodings()) {
    std::printf("\n%-18s", std::string(p.encoding).c_str());
    for (finding const f : p.found)
      std::printf("  %13s", f == finding::yes ? "yes" : f == finding::no ? "no" : "-");
  }
  std::printf("\n");
}

template <class Named>
std::vector<std::string> names(const std::vector<Named>& all) {
  std::vector<std::string> found;
  for (Named const& x : all) found.emplace_back(x.name);
  return found;
}

}  // namespace
}  // namespace positions

int main(int argc, char** argv) {
  positions::arguments a;
  a.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App app("Compares encodings of positions: what a small transformer learns with each.",
               "positions");
  app.add_option("--encodings", a.encodings, "those to compare; without it, all")
      ->check(CLI::IsMember(positions::names(positions::contestants())));
  app.add_option("--tasks", a.tasks, "those to learn; without it, all")
      ->check(CLI::IsMember(positions::names(positions::tasks({}))));
  auto* const steps = app.add_option("--steps", a.steps, "of training, for each encoding and task")
                          ->check(CLI::Range(1, 1000000))
                          ->capture_default_str();
  app.add_flag(
         "--quick", a.quick,
         "few steps: " + std::to_string(positions::quick_steps) + ", two minutes on two cores")
      ->excludes(steps);
  app.add_flag("--properties", a.properties,
               "print what can be said of each encoding, found by computing it, and learn nothing");
  app.add_option("--text", a.text,
                 "the file whose characters are learnt; without it, weft's own headers and README");
  app.add_option("--threads", a.threads, "runs side by side; the results are the same")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--out", a.out, "the folder for the table, the pictures and the page")
      ->capture_default_str();
  app.add_option("--seed", a.seed, "of all random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  return examples::run_program(
      app, argc, argv, [&] { a.properties ? positions::print_properties() : positions::run(a); });
}
