// Byte-level byte pair encoding (Radford et al. 2019, section 2.2; Sennrich et al. 2016), with the
// vocabulary, merges and special tokens of a GGUF file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <weft/io/gguf.hpp>

namespace chat {

class byte_pairs {
 public:
  // Throws weft::error where the file's tokenizer is of another kind, or is not complete.
  explicit byte_pairs(const weft::gguf_file& file);

  // The tokens of a text in UTF-8. Special tokens stand for themselves: "<|im_start|>" is one
  // token. Throws weft::error where the text is not UTF-8.
  std::vector<std::int32_t> tokens(std::string_view text) const;
  // The tokens of a text in which special tokens are text like any other, such as a user's.
  std::vector<std::int32_t> tokens_of_plain(std::string_view text) const;

  // The bytes of a token; none for a special one. A character may be in several tokens.
  std::string bytes(std::int32_t token) const;
  std::size_t size() const { return pieces_.size(); }
  bool is_special(std::int32_t token) const {
    return is_special_[static_cast<std::size_t>(token)] != 0;
  }

 private:
  void add_word(std::string_view word, std::vector<std::int32_t>& to) const;

  std::vector<std::string> pieces_;
  std::vector<char> is_special_;
  std::unordered_map<std::string, std::int32_t> tokens_;
  std::unordered_map<std::string, std::size_t> ranks_;  // of merges, "left right"
  std::vector<std::u16string> patterns_;                // a text is split by each in turn
};

}  // namespace chat
