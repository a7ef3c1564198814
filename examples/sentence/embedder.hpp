// Embeddings of sentences by MiniLM, from the files in which it is published.
#pragma once

#include <filesystem>
#include <models/bert.hpp>
#include <string>
#include <vector>
#include <weft/run.hpp>

#include "word_pieces.hpp"

namespace sentence {

class embedder {
  // As many tokens as sentences together have in a run, if there are enough of them, and as many
  // sentences at most.
  static constexpr std::size_t tokens_of_run = 512, sentences_of_run = 64;
  using model = models::bert<models::minilm_l6, tokens_of_run, sentences_of_run>;

 public:
  static constexpr std::size_t width = model::Embed::extent;
  static constexpr std::size_t most_tokens = model::Pos::extent;
  using embedding = std::vector<float>;  // of `width` elements, with the length 1

  // From a folder with model.safetensors and vocab.txt, whose weights are kept in this precision.
  // Throws weft::error where one of the files cannot be read or is not the model's.
  explicit embedder(const std::filesystem::path& folder,
                    weft::precision weights = weft::precision::float32);

  // The embedding of each text, of at most `most` tokens: the tokens after these are cut off.
  // Throws weft::error where a text is not UTF-8.
  std::vector<embedding> embed(const std::vector<std::string>& texts,
                               std::size_t most = most_tokens);

  // The tokens of the texts that were embedded.
  std::size_t tokens_done() const { return tokens_done_; }
  // Of the packed weights; as float32 without the tables, which are read from the file.
  std::size_t packed_bytes() const { return net_.packed().memory.size(); }
  const word_pieces& pieces() const { return pieces_; }

 private:
  word_pieces pieces_;
  weft::module<model, "embedding"> net_;
  std::size_t tokens_done_ = 0;
};

// The cosine of the angle between two embeddings.
double cosine(const embedder::embedding& a, const embedder::embedding& b);

}  // namespace sentence
