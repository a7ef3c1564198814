// Listens for speech, by Silero's detector.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <weft/pictures/line_chart.hpp>

#include "detector.hpp"
#include "made.hpp"
#include "segments.hpp"
#include "sound.hpp"
#include "support/program.hpp"

namespace listen {
namespace {

constexpr double second = 1.0 / detector::rate;

struct settings {
  std::string file;
  std::string model = LISTEN_MODEL;
  std::string picture;
  bool json = false;
  bool frames = false;
  rules how;
  sample_format raw;
  double noise = 20;
  std::uint64_t seed = 1;
};

// What is printed, a line at once: who writes to a pipe may be waiting for it.
class printer {
 public:
  printer(bool json, bool frames) : json_(json), frames_(frames), headed_(json) {}
  void frame(std::size_t n, double probability) {
    if (frames_)
      print("frame", static_cast<std::int64_t>(n * detector::frame),
            static_cast<std::int64_t>((n + 1) * detector::frame), probability);
  }
  void speech(const segment& s) { print("speech", s.begin, s.end, s.probability); }

 private:
  void print(const char* what, std::int64_t begin, std::int64_t end, double probability) {
    if (!headed_) std::printf("          from s        to s  probability\n");
    headed_ = true;
    std::printf(
        json_ ? "{\"%s\": [%.7f, %.7f], \"probability\": %.9g}\n" : "%-6s %11.3f %11.3f  %11.4f\n",
        what, second * static_cast<double>(begin), second * static_cast<double>(end), probability);
    std::fflush(stdout);
  }

  bool json_, frames_, headed_;
};

// What a picture needs of each frame.
struct history {
  std::vector<double> low, high, probability;
  std::vector<segment> speech;
};

// The waveform, below it nothing: probability and segments stand above.
void draw(const history& h, const std::string& file) {
  // Two values for each column of at least a frame.
  const std::size_t frames = h.probability.size(), of_column = 1 + frames / 1000;
  double loudest = 1e-9;
  for (std::size_t i = 0; i < frames; ++i) loudest = std::max({loudest, -h.low[i], h.high[i]});
  std::vector<double> wave, probability, speech;
  for (std::size_t first = 0; first < frames; first += of_column) {
    const std::size_t next = std::min(frames, first + of_column);
    double low = 0, high = 0, most = 0;
    for (std::size_t i = first; i < next; ++i) {
      low = std::min(low, h.low[i]);
      high = std::max(high, h.high[i]);
      most = std::max(most, h.probability[i]);
    }
    const auto begin = static_cast<std::int64_t>(first * detector::frame);
    const auto end = static_cast<std::int64_t>(next * detector::frame);
    const bool spoken = std::ranges::any_of(
        h.speech, [&](const segment& s) { return s.begin < end && s.end > begin; });
    for (const double x : {low, high}) {
      wave.push_back(0.5 * x / loudest - 0.6);
      probability.push_back(most);
      speech.push_back(spoken ? 1.1 : std::nan(""));
    }
  }
  weft::line_chart({{"sound", wave}, {"probability", probability}, {"speech", speech}},
                   {.across = "seconds",
                    .step = static_cast<double>(of_column * detector::frame) * second / 2,
                    .width = 960,
                    .height = 240})
      .save(file);
}

// Runs the detector over a sound that comes in blocks.
class listener {
 public:
  listener(const settings& s, detector& d)
      : detector_(d),
        segmenter_(s.how, detector::rate, detector::frame),
        print_(s.json, s.frames),
        keeps_(!s.picture.empty()) {}

  // The samples that have come; what is no whole frame waits for the next ones.
  void hear(std::vector<float>& samples) {
    std::size_t at = 0;
    for (; at + detector::frame <= samples.size(); at += detector::frame)
      next(std::span(samples).subspan(at).first<detector::frame>());
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // The end: silence fills the last frame.
  void finish(std::vector<float>& samples) {
    hear(samples);
    const auto total = static_cast<std::int64_t>(frames_ * detector::frame + samples.size());
    if (!samples.empty()) {
      samples.resize(detector::frame, 0.0f);
      hear(samples);
    }
    segmenter_.finish(total, found_);
    report();
    total_ = total;
  }

  std::size_t frames() const { return frames_; }
  double seconds() const { return second * static_cast<double>(total_); }
  double speech() const { return second * static_cast<double>(spoken_); }
  std::size_t segments() const { return segments_; }
  // The median of what a frame took.
  double microseconds() const {
    auto some = took_;
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    std::nth_element(some.begin(), middle, some.end());
    return some.empty() ? 0 : *middle;
  }
  const history& all() const { return all_; }
  std::function<void(double)> each;  // is told the probability of each frame

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t most_timed = 10'000;

  void next(std::span<const float, detector::frame> frame) {
    const auto begin = clock::now();
    const auto probability = static_cast<double>(detector_.next(frame));
    const double took = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    if (took_.size() < most_timed)
      took_.push_back(took);
    else
      took_[frames_ % most_timed] = took;
    print_.frame(frames_++, probability);
    if (each) each(probability);
    segmenter_.add(probability, found_);
    report();
    if (!keeps_) return;
    const auto [low, high] = std::ranges::minmax(frame);
    all_.low.push_back(static_cast<double>(low));
    all_.high.push_back(static_cast<double>(high));
    all_.probability.push_back(probability);
  }
  void report() {
    for (const segment& s : found_) {
      print_.speech(s);
      ++segments_;
      spoken_ += s.end - s.begin;
      if (keeps_) all_.speech.push_back(s);
    }
    found_.clear();
  }

  detector& detector_;
  segmenter segmenter_;
  printer print_;
  bool keeps_;
  std::vector<segment> found_;
  history all_;
  std::size_t frames_ = 0, segments_ = 0;
  std::int64_t spoken_ = 0, total_ = 0;
  std::vector<double> took_;  // of the last frames
};

void hear_file(const settings& s, listener& to) {
  const bool piped = s.file == "-";
  std::error_code failed;
  if (!piped && std::filesystem::is_directory(s.file, failed))
    throw weft::error(s.file + " is a directory; name a WAV file");
  std::ifstream file;
  if (!piped) file.open(s.file, std::ios::binary);
  if (!piped && !file) throw weft::error("cannot read " + s.file + "; name a WAV file");
  const std::string name = piped ? "standard input" : s.file;
  sound from(piped ? std::cin : file, name, detector::rate, piped ? &s.raw : nullptr);
  std::vector<float> samples;
  while (from.read(samples)) to.hear(samples);
  to.finish(samples);
  if (to.frames() == 0) throw weft::error(name + " has no samples");
  for (const auto& remark : from.remarks()) std::fprintf(stderr, "listen: %s\n", remark.c_str());
}

// Says how many frames of a sound of its own are right.
void hear_made(const settings& s, listener& to) {
  auto made = made_sound(detector::rate, detector::frame, s.noise, s.seed);
  std::size_t at = 0, right = 0;
  to.each = [&](double p) { right += (p >= s.how.threshold) == made.speech[at++] ? 1 : 0; };
  to.finish(made.samples);
  std::fprintf(stderr, "right: %zu of %zu frames (%.1f %%), %.0f dB above the noise\n", right, at,
               100.0 * static_cast<double>(right) / static_cast<double>(at), s.noise);
}

void run(const settings& s) {
  if (!std::filesystem::exists(s.model))
    throw weft::error("--model: there is no " + s.model +
                      "; `./run listen` fetches it, or name silero_vad_16k.safetensors");
  const std::pair<const char*, double> numbers[]{{"--threshold", s.how.threshold},
                                                 {"--negative", s.how.negative.value_or(0)},
                                                 {"--noise", s.noise}};
  for (const auto& [option, x] : numbers)
    if (std::isnan(x)) throw weft::error(std::string(option) + ": nan is not a number");
  detector d(s.model);
  listener l(s, d);
  if (s.file.empty())
    hear_made(s, l);
  else
    hear_file(s, l);
  if (!s.picture.empty()) draw(l.all(), s.picture);
  std::fprintf(stderr,
               "speech: %.2f of %.2f s, in %zu segments; %zu frames, %.1f us a frame (median)\n",
               l.speech(), l.seconds(), l.segments(), l.frames(), l.microseconds());
}

}  // namespace
}  // namespace listen

int main(int argc, char** argv) {
  listen::settings s;
  CLI::App app(
      "Finds speech in a sound with Silero's detector: segments, and the probability of each frame "
      "of 32 ms. Without a file it hears espeak-ng, and says how much of it was right.",
      "listen");
  app.add_option("file", s.file,
                 "A WAV file, or - for standard input: WAV, or raw samples of 16 bits");
  app.add_option("--model", s.model, "silero_vad_16k.safetensors")->capture_default_str();
  app.add_flag("--json", s.json, "Print JSON, a line for each segment");
  app.add_flag("--frames", s.frames, "Print each frame, too");
  app.add_option("--picture", s.picture, "Draw sound, probability and segments to this PNG file");
  app.add_option("--threshold", s.how.threshold, "Where speech begins")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--negative", s.how.negative, "Below which it ends; 0.15 less without it")
      ->check(CLI::Range(0.0, 1.0));
  const CLI::Range times(0, 60'000);
  app.add_option("--min-speech", s.how.min_speech, "ms that a segment is longer than")
      ->check(times)
      ->capture_default_str();
  app.add_option("--min-silence", s.how.min_silence, "ms of silence that end a segment")
      ->check(times)
      ->capture_default_str();
  app.add_option("--pad", s.how.pad, "ms before and after a segment")
      ->check(times)
      ->capture_default_str();
  app.add_option("--rate", s.raw.rate, "Hz of raw samples")->capture_default_str();
  app.add_option("--channels", s.raw.channels, "Channels of raw samples")->capture_default_str();
  app.add_option("--noise", s.noise, "dB of noise below espeak-ng")
      ->check(CLI::Range(-40.0, 100.0))
      ->capture_default_str();
  app.add_option("--seed", s.seed, "Seed of pauses and noise")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { listen::run(s); });
}
