// The model's GGUF file, as both of the program's parts read it.
#pragma once

#include <filesystem>
#include <weft/files/gguf.hpp>
#include <weft/files/load.hpp>
#include <weft/run.hpp>

#include "byte_pairs.hpp"
#include "windowed.hpp"

namespace chat {

// How the weights are kept, and who packs them.
struct weights {
  weft::precision precision = weft::precision::stored;
  weft::executor threads;
  std::filesystem::path packed;  // a file for the packed weights, made if there is none; or empty
};

// SmolLM2-135M that sees tokens within a window; of a run's tokens the logits of the last, or the
// losses of all.
inline constexpr int most_window = 1024, most_sinks = 4;
template <int Step>
using smollm2_in_window = windowed<models::smollm2_135m, Step, most_window, most_sinks>;

// The tokenizer of SmolLM2-135M. Throws weft::error where the file is not that of the model.
byte_pairs tokenizer_of(const weft::gguf_file& file);

// Its weights: the packed ones if they are there.
weft::weights source_of(const weft::gguf_file& file, const std::filesystem::path& packed);

}  // namespace chat
