#include "segments.hpp"

#include <algorithm>

namespace listen {

segmenter::segmenter(const rules& r, std::int64_t rate, std::int64_t frame)
    : threshold_(r.threshold),
      negative_(r.negative.value_or(std::max(r.threshold - 0.15, 0.01))),
      frame_(frame),
      min_speech_(rate * r.min_speech / 1000),
      min_silence_(rate * r.min_silence / 1000),
      pad_(rate * r.pad / 1000) {}

void segmenter::add(double probability, std::vector<segment>& to) {
  if (probability >= threshold_) {
    silent_.reset();
    if (!begin_) {
      begin_ = now_;
      sum_ = 0;
    }
  } else if (begin_ && probability < negative_) {
    if (!silent_) {
      silent_ = now_;
      sum_before_silence_ = sum_;
    }
    if (now_ - *silent_ >= min_silence_) {
      sum_ = sum_before_silence_;
      accept(*silent_, to);
    }
  }
  sum_ += probability;
  now_ += frame_;
  settle(begin_.value_or(now_), to);
}

void segmenter::finish(std::int64_t samples, std::vector<segment>& to) {
  if (begin_) accept(samples, to);
  if (!last_) return;
  last_->end = std::min(samples, last_->end + pad_);
  to.push_back(*last_);
  last_.reset();
}

// Ends the segment that goes on.
void segmenter::accept(std::int64_t end, std::vector<segment>& to) {
  const std::int64_t begin = *begin_, frames = (end - begin + frame_ - 1) / frame_;
  begin_.reset();
  silent_.reset();
  if (end - begin <= min_speech_) return;
  settle(begin, to);
  std::int64_t before = std::min(pad_, begin);
  if (last_) {  // less than two pads before: both get half of what is between them
    before = (begin - last_->end) / 2;
    last_->end += before;
    to.push_back(*last_);
  }
  last_ = segment{begin - before, end, sum_ / static_cast<double>(frames)};
}

// What begins at `next` or later leaves the last segment its pad, or does not yet.
void segmenter::settle(std::int64_t next, std::vector<segment>& to) {
  if (!last_ || next - last_->end < 2 * pad_) return;
  last_->end += pad_;
  to.push_back(*last_);
  last_.reset();
}

}  // namespace listen
