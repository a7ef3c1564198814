// Byte pair encodings of letters, for tests of tokenizers: any merges, and their tokens by the
// definition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/gguf_builder.hpp"

namespace weft::testing {

// The metadata of a tokenizer of byte pairs.
struct vocabulary {
  std::vector<std::string> pieces, merges;
  std::vector<std::int32_t> types = std::vector<std::int32_t>(pieces.size(), 1);  // 3: control
  std::string words = "gpt-2";  // how texts are split into words
  std::int32_t end = 0;

  gguf_builder file() const {
    gguf_builder b(0, 6);
    b.text_value("tokenizer.ggml.model", "gpt2").text_value("tokenizer.ggml.pre", words);
    b.texts("tokenizer.ggml.tokens", pieces).texts("tokenizer.ggml.merges", merges);
    b.integers("tokenizer.ggml.token_type", types);
    return b.key("tokenizer.ggml.eos_token_id", gguf_builder::type_of_int32).add(end);
  }
};

// The letters from a to h are tokens, and so is what a merge makes.
class letter_pairs {
 public:
  letter_pairs() {
    for (char c = 'a'; c <= 'h'; ++c) pieces_.emplace_back(1, c);
  }
  std::size_t size() const { return pieces_.size(); }
  const std::string& piece(std::size_t token) const { return pieces_[token]; }
  // Adds the merge of two tokens, whose rank is the greatest so far, unless there is that merge.
  void merge(std::size_t left, std::size_t right) {
    const auto pair = std::pair(pieces_[left], pieces_[right]);
    if (!ranks_.emplace(pair, ranks_.size()).second) return;
    merges_.push_back(pair.first + " " + pair.second);
    if (std::ranges::find(pieces_, pair.first + pair.second) == pieces_.end())
      pieces_.push_back(pair.first + pair.second);
  }
  vocabulary file() const { return {.pieces = pieces_, .merges = merges_}; }

  // The tokens of a word of these letters, in quadratic time: the leftmost pair of the least rank
  // is merged until there is none.
  std::vector<std::int32_t> tokens(std::string_view word) const {
    std::vector<std::string> parts;
    for (const char c : word) parts.emplace_back(1, c);
    for (;;) {
      std::size_t least = ranks_.size(), best = 0;
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = ranks_.find(std::pair(parts[i], parts[i + 1]));
        if (found == ranks_.end() || found->second >= least) continue;
        least = found->second;
        best = i;
      }
      if (least == ranks_.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<std::int32_t> all;
    for (const auto& part : parts)
      all.push_back(static_cast<std::int32_t>(std::ranges::find(pieces_, part) - pieces_.begin()));
    return all;
  }

 private:
  std::vector<std::string> pieces_, merges_;
  std::map<std::pair<std::string, std::string>, std::size_t> ranks_;
};

}  // namespace weft::testing
