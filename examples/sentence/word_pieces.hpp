// BERT's tokenizer (Devlin et al. 2019): words, and their longest pieces in a vocabulary
// (WordPiece, Wu et al. 2016, section 4.1). It gives the tokens of Hugging Face's tokenizers with
// do_lower_case, strip_accents and tokenize_chinese_chars.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sentence {

class word_pieces {
 public:
  // Reads vocab.txt: a piece in each line, whose number is the token. Throws weft::error where the
  // file cannot be read, or lacks [CLS], [SEP] or [UNK].
  explicit word_pieces(const std::filesystem::path& vocabulary);

  // The tokens of a text in UTF-8 between [CLS] and [SEP], of which at most `most` are kept, with
  // [SEP] last; most is 2 or more. Throws weft::error where the text is not UTF-8.
  std::vector<std::int32_t> tokens(std::string_view text, std::size_t most) const;

  // The number of pieces.
  std::size_t size() const { return pieces_.size(); }
  // The text of a token.
  const std::string& piece(std::int32_t token) const {
    return pieces_[static_cast<std::size_t>(token)];
  }

 private:
  std::int32_t find(const std::string& piece) const;  // -1: there is none
  std::int32_t special(const std::filesystem::path& file, const std::string& piece) const;
  void add_words(std::u32string_view text, std::vector<std::int32_t>& to) const;
  void add_pieces(std::u32string_view word, std::vector<std::int32_t>& to) const;

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t> tokens_;
  std::int32_t begin_, end_, unknown_;
};

}  // namespace sentence
