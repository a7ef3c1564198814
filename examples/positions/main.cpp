// Compares position encodings: what a small transformer learns with each.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>
#include <weft/run.hpp>

#include "arguments.hpp"
#include "properties.hpp"
#include "report.hpp"
#include "study.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"

namespace positions {
namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  if (!(out << text).flush()) throw weft::error("cannot write " + file.string());
}

void run(const arguments& a) {
  check(a);
  const std::filesystem::path folder = a.out;
  settings s{contestants(), tasks(examples::read_corpus(a.text, longest_text + 1)),
             a.quick ? quick_steps : a.steps, a.seed, a.threads};
  const auto named = [](const std::vector<std::string>& names) {
    return [&](const auto& x) {
      return !names.empty() && std::ranges::find(names, x.name) == names.end();
    };
  };
  std::erase_if(s.contestants, named(a.encodings));
  std::erase_if(s.tasks, named(a.tasks));

  const long steps = static_cast<long>(s.contestants.size() * s.tasks.size()) * s.steps;
  examples::progress_line progress(steps, "steps");
  const auto found = run_study(s, [&](long done, float loss) {
    progress.step(done, loss, static_cast<double>(done) / progress.seconds());
  });
  progress.finish();

  const table t(s, found);
  std::fputs(t.text().c_str(), stdout);
  write(folder / "positions.tsv", t.tsv());
  const auto page = (folder / "positions.html").string();
  write_page(s, found, a.out).save(page);
  std::printf("page: %s\n", page.c_str());
}

void print_properties() {
  std::printf("%-18s", "");
  for (const auto name : property_names) std::printf("  %13s", std::string(name).c_str());
  for (const properties& p : properties_of_encodings()) {
    std::printf("\n%-18s", std::string(p.encoding).c_str());
    for (const finding f : p.found)
      std::printf("  %13s", f == finding::yes ? "yes" : f == finding::no ? "no" : "-");
  }
  std::printf("\n");
}

template <class Named>
std::vector<std::string> names(const std::vector<Named>& all) {
  std::vector<std::string> found;
  for (const Named& x : all) found.emplace_back(x.name);
  return found;
}

}  // namespace
}  // namespace positions

int main(int argc, char** argv) {
  positions::arguments a;
  a.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App app("Compares encodings of positions: what a small transformer learns with each.",
               "positions");
  positions::add_options(app, a, positions::names(positions::contestants()),
                         positions::names(positions::tasks({})));
  return examples::run_program(
      app, argc, argv, [&] { a.properties ? positions::print_properties() : positions::run(a); });
}
