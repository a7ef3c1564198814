// Byte-level byte pair encoding (Radford et al. 2019, section 2.2; Sennrich et al. 2016), with the
// vocabulary, merges and special tokens of a GGUF file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <weft/files/gguf.hpp>

struct URegularExpression;  // ICU's

namespace chat {

class byte_pairs {
 public:
  // Throws weft::error where the file's tokenizer is of another kind, or is not complete: where a
  // merge is not of two tokens, or makes none; where a token has no type; where no token ends an
  // answer. Of two tokens with the same text, texts have the first; one without a text stands for
  // none.
  explicit byte_pairs(const weft::gguf_file& file);

  // The tokens of a text in UTF-8. Special tokens stand for themselves: "<|im_start|>" is one
  // token. Throws weft::error where the text is not UTF-8. A word of n bytes takes n log n steps.
  std::vector<std::int32_t> tokens(std::string_view text) const;
  // The tokens of a text in which special tokens are text like any other, such as a user's.
  std::vector<std::int32_t> tokens_of_plain(std::string_view text) const;

  // The bytes of a token; none for a special one. A character may be in several tokens.
  std::string bytes(std::int32_t token) const;
  std::size_t size() const { return pieces_.size(); }
  bool is_special(std::int32_t token) const {
    return is_special_[static_cast<std::size_t>(token)] != 0;
  }
  // Whether the token ends an answer.
  bool is_end(std::int32_t token) const;

 private:
  struct merge {
    std::int32_t left, right, result;
  };

  void add_merges(const weft::gguf_file& file);
  std::int32_t special_at(std::string_view text) const;
  void add_plain(std::string_view text, std::vector<std::int32_t>& to) const;
  void add_word(std::string_view word, std::vector<std::int32_t>& to) const;

  std::vector<std::string> pieces_;
  std::vector<char> is_special_;
  std::vector<std::int32_t> specials_;     // ordered by their pieces, which are not empty
  std::vector<std::int32_t> ends_;         // of answers
  std::array<std::int32_t, 256> of_byte_;  // the token of each byte; -1: there is none
  std::vector<merge> merges_;              // by rank
  std::unordered_map<std::uint64_t, std::int32_t> ranks_;  // of pairs of tokens
  // A text is split by each in turn.
  std::vector<std::shared_ptr<const URegularExpression>> patterns_;
};

// The bytes of a text that are whole characters of UTF-8; an unfinished one at the end is left out.
std::size_t whole_characters(std::string_view text);

}  // namespace chat
