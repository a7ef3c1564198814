// Baselines by counting: the losses that a trained model has to beat.
#pragma once

#include <cstdint>
#include <span>

namespace char_lm {

struct baseline {
  double unigram, bigram;  // nats per byte
};

// Counts in `train`, measures on `held_out`. The unigram adds one to each count; the bigram is
// smoothed towards the unigram, whose weight is one count per context (MacKay and Peto 1995).
baseline count(std::span<const std::int32_t> train, std::span<const std::int32_t> held_out);

}  // namespace char_lm
