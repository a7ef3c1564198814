// From the probabilities of frames to segments of speech.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace listen {

// As get_speech_timestamps of Silero's package has them, with its defaults.
struct rules {
  double threshold = 0.5;          // speech begins with a frame of at least this probability
  std::optional<double> negative;  // and ends with one below this: 0.15 less, but at least 0.01
  std::int64_t min_speech = 250;   // ms; what is not longer is left out
  std::int64_t min_silence = 100;  // ms; what is shorter ends no segment
  std::int64_t pad = 30;           // ms before and after a segment
};

struct segment {
  std::int64_t begin, end;  // samples
  double probability;       // the mean of its frames
};

// Keeps what it needs to tell the next segment, however long the sound is.
class segmenter {
 public:
  segmenter(const rules& r, std::int64_t rate, std::int64_t frame);

  // After the next frame; appends the segments that are known by now.
  void add(double probability, std::vector<segment>& to);
  // At the end of a sound, by its length in samples.
  void finish(std::int64_t samples, std::vector<segment>& to);

 private:
  void accept(std::int64_t end, std::vector<segment>& to);
  void settle(std::int64_t next, std::vector<segment>& to);

  double threshold_, negative_;
  std::int64_t frame_, min_speech_, min_silence_, pad_;  // samples
  std::int64_t now_ = 0;                                 // where the next frame begins
  std::optional<std::int64_t> begin_, silent_;           // of the segment that goes on
  double sum_ = 0, sum_before_silence_ = 0;
  std::optional<segment> last_;  // whose end may be cut by the next one
};

}  // namespace listen
