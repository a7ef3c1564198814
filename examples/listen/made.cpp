#include "made.hpp"

#include <stdio.h>  // popen

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <weft/run/error.hpp>

#include "sound.hpp"

namespace listen {

namespace {

constexpr std::array sentences{"The ship sails at noon.",
                               "Nobody had seen the letter before.",
                               "Wait.",
                               "A small bird sat on the garden wall and sang.",
                               "Where did you put the key?",
                               "It is going to rain this afternoon.",
                               "Seven, four, nine, one.",
                               "She opened the window to let the warm air out.",
                               "Thank you, that will be all."};
constexpr std::array voices{"en-us", "en-gb", "en-us+f3", "en-gb+m5"};

std::vector<float> said(const std::string& sentence, const std::string& voice, std::size_t rate) {
  const std::string command =
      "espeak-ng --stdout -v " + voice + " \"" + sentence + "\" 2>/dev/null";
  std::string bytes;
  if (FILE* const pipe = popen(command.c_str(), "r")) {
    std::array<char, 4096> some;
    for (std::size_t n; (n = fread(some.data(), 1, some.size(), pipe)) > 0;)
      bytes.append(some.data(), n);
    pclose(pipe);
  }
  if (bytes.empty())
    throw weft::error(
        "there is no espeak-ng to make a sound with; `./run listen` installs it, or "
        "name a WAV file");
  std::istringstream in(bytes);
  sound s(in, "what espeak-ng says", rate);
  std::vector<float> samples;
  while (s.read(samples)) {
  }
  return samples;
}

}  // namespace

known_sound made_sound(std::size_t rate, std::size_t frame, double decibels, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> pause(0.6, 2.0);
  known_sound made;
  std::vector<bool> speech;  // of each sample
  double energy = 0, count = 0;
  const auto wait = [&] {
    made.samples.resize(made.samples.size() +
                        static_cast<std::size_t>(pause(random) * static_cast<double>(rate)));
    speech.resize(made.samples.size(), false);
  };
  wait();
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto all = said(sentences[i], voices[i % voices.size()], rate);
    float most = 0;
    for (const float x : all) most = std::max(most, std::abs(x));
    const auto sounds = [&](float x) { return std::abs(x) > most / 100; };
    const auto first = std::find_if(all.begin(), all.end(), sounds);
    const auto last = std::find_if(all.rbegin(), all.rend(), sounds).base();
    for (auto x = first; x < last; ++x) {
      made.samples.push_back(*x);
      energy += static_cast<double>(*x * *x);
      ++count;
    }
    speech.resize(made.samples.size(), true);
    wait();
  }
  std::normal_distribution<float> noise(
      0, static_cast<float>(std::sqrt(energy / count) * std::pow(10, -decibels / 20)));
  for (float& x : made.samples) x += noise(random);
  for (std::size_t at = 0; at < speech.size(); at += frame) {
    std::size_t in = 0, of = 0;
    for (; of < frame && at + of < speech.size(); ++of) in += speech[at + of] ? 1 : 0;
    made.speech.push_back(2 * in >= of);
  }
  return made;
}

}  // namespace listen
