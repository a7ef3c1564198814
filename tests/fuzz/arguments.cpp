// Fuzzes the command lines of the examples: values that are accepted are in the range that --help
// gives, and all others lead to an error message and exit status 2. The first byte chooses the
// program; the other bytes are one argument per line.
#include <cmath>

#include "attention_tour/settings.hpp"
#include "char_lm/settings.hpp"
#include "dates/settings.hpp"
#include "fuzz/input.hpp"
#include "positions/arguments.hpp"
#include "support/program.hpp"

namespace {

using arguments = std::vector<const char*>;

template <class Settings, class Options, class Check>
void parse(const arguments& a, Options options, Check check) {
  Settings s;
  CLI::App app("fuzzed", "program");
  options(app, s);
  bool run = false;
  const int status = examples::run_program(app, static_cast<int>(a.size()), a.data(), [&] {
    check(s);
    run = true;
  });
  fuzz::expect(status == 0 || (status == 2 && !run));
}

bool between(double low, double x, double high) {
  return low <= x && x <= high;
}

void of_char_lm(const arguments& a) {
  parse<char_lm::settings>(a, char_lm::add_options, [](const char_lm::settings& s) {
    check(s);
    fuzz::expect(between(1, static_cast<double>(s.steps), 1e6) &&
                 between(1, static_cast<double>(s.batch), char_lm::Batch::extent) &&
                 between(1e-8, s.learning_rate, 1) && between(0.01, s.temperature, 100) &&
                 s.sample <= 1000000 && !s.prompt.empty());
  });
}

void of_dates(const arguments& a) {
  parse<dates::settings>(a, dates::add_options, [](const dates::settings& s) {
    check(s);
    fuzz::expect(between(1, static_cast<double>(s.steps), 1e6) && between(1, s.threads, 256) &&
                 between(1, static_cast<double>(s.batch), dates::Batch::extent) &&
                 between(1e-8, s.learning_rate, 1) && !s.texts.empty());
  });
}

void of_positions(const arguments& a) {
  const std::vector<std::string> encodings{"none", "sinusoidal"}, tasks{"reverse", "text"};
  parse<positions::arguments>(
      a,
      [&](CLI::App& app, positions::arguments& s) {
        positions::add_options(app, s, encodings, tasks);
      },
      [](const positions::arguments& s) {
        check(s);
        fuzz::expect(between(1, static_cast<double>(s.steps), 1e6) && between(1, s.threads, 256));
      });
}

void of_attention_tour(const arguments& a) {
  parse<attention_tour::settings>(a, attention_tour::add_options,
                                  [](const attention_tour::settings& s) { check(s); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Arguments of a process contain no zero bytes.
  std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
  arguments all{"program"};
  if (!text.empty()) all.push_back(text.data());
  for (char& c : text)
    if (c == '\n') {
      c = '\0';
      all.push_back(&c + 1);
    }
  constexpr void (*programs[])(const arguments&){of_char_lm, of_dates, of_positions,
                                                 of_attention_tour};
  programs[data[0] % std::size(programs)](all);
  return 0;
}
