// What counting alone achieves: the losses that a trained model has to beat.
#pragma once

#include <cstdint>
#include <span>

namespace char_lm {

struct baseline {
  double unigram, bigram;  // nats per byte
};

// Counts in the one text, measures on the other. The unigram adds one to each count; the bigram is
// smoothed towards the unigram (MacKay and Peto 1995, with one count's weight for each context's
// prior).
baseline count(std::span<const std::int32_t> train, std::span<const std::int32_t> held_out);

}  // namespace char_lm
