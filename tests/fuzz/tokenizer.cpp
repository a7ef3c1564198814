// Fuzzes the tokenizer of examples/chat, by the first byte of the input: merges give the tokens of
// the definition; texts can be told from their tokens; a vocabulary of any lists is read or refused
// in one line. Some texts are repeated to a length at which quadratic time is longer than run.sh
// allows.
#include <algorithm>
#include <array>

#include "chat/byte_pairs.hpp"
#include "fuzz/input.hpp"
#include "support/letter_pairs.hpp"
#include "weft/run/error.hpp"

namespace {

using weft::testing::letter_pairs, weft::testing::vocabulary;

chat::byte_pairs reader_of(const vocabulary& v) {
  return chat::byte_pairs(weft::gguf_file(v.file().bytes(), "memory"));
}

// A number of merges, two bytes for each, and the letters of a word.
void merge_letters(fuzz::bytes input, bool repeated) {
  letter_pairs pairs;
  const std::size_t merges = std::min<std::size_t>(input.front(), (input.size() - 1) / 2);
  for (std::size_t m = 0; m < merges; ++m) {
    const std::size_t left = input[1 + 2 * m] % pairs.size();
    const std::size_t right = input[2 + 2 * m] % pairs.size();
    if (pairs.piece(left).size() + pairs.piece(right).size() <= 64) pairs.merge(left, right);
  }
  std::string word;
  for (const std::uint8_t b : input.subspan(1 + 2 * merges))
    word.push_back(static_cast<char>('a' + b % 8));
  const auto reader = reader_of(pairs.file());
  constexpr std::size_t short_word = 64;
  fuzz::expect(reader.tokens(word.substr(0, short_word)) ==
               pairs.tokens(std::string_view(word).substr(0, short_word)));
  if (!repeated || word.empty()) return;
  while (word.size() < (1 << 14)) word += word;
  std::string said;
  for (const std::int32_t t : reader.tokens(word)) said += reader.bytes(t);
  fuzz::expect(said == word);
}

// The characters that stand for the bytes, as in GPT-2's bytes_to_unicode.
std::vector<std::string> byte_characters() {
  std::vector<std::string> all;
  for (unsigned byte = 0, others = 0x100; byte < 0x100; ++byte) {
    const bool itself = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    const unsigned c = itself ? byte : others++;
    if (c < 0x80)
      all.push_back({static_cast<char>(c)});
    else
      all.push_back({static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))});
  }
  return all;
}

void read_text(std::string text, std::size_t words, bool repeated) {
  constexpr std::array<const char*, 4> splittings{"gpt-2", "smollm", "llama-bpe", "qwen2"};
  constexpr std::array<const char*, 6> specials{"<|a|>", "", "<|a|><", "<|a", "é", "<|a|>"};
  static const auto readers = [&] {
    std::vector<chat::byte_pairs> all;
    for (const char* const s : splittings) {
      vocabulary v{.pieces = byte_characters(), .merges = {"a a", "aa a", "Ġ Ġ"}, .words = s};
      v.pieces.insert(v.pieces.end(), {"aa", "aaa", "ĠĠ"});
      v.types.resize(v.pieces.size(), 1);
      for (const char* const special : specials) {
        v.pieces.emplace_back(special);
        v.types.push_back(3);
      }
      all.push_back(reader_of(v));
    }
    return all;
  }();
  const chat::byte_pairs& reader = readers[words % readers.size()];
  const std::size_t plain = reader.size() - specials.size();
  while (repeated && !text.empty() && text.size() < (1 << 14)) text += text;
  try {
    std::string said, all;
    for (const std::int32_t t : reader.tokens_of_plain(text)) said += reader.bytes(t);
    fuzz::expect(said == text);
    for (const std::int32_t t : reader.tokens(text))
      all += reader.is_special(t) ? specials[static_cast<std::size_t>(t) - plain] : reader.bytes(t);
    fuzz::expect(all == text);
  } catch (const weft::error& e) {
    fuzz::expect(std::string_view(e.what()) == "the text is not UTF-8");
  }
}

std::vector<std::string> parts(std::string_view text, char between) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(between), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// Pieces, merges, a type for each piece, the token that ends an answer, and a text, with zero bytes
// between them.
void read_vocabulary(std::string_view input) {
  auto fields = parts(input, '\0');
  fields.resize(5);
  vocabulary v{.pieces = parts(fields[0], '\n'), .merges = parts(fields[1], '\n')};
  for (std::size_t t = 0; t < std::min(fields[2].size(), v.types.size()); ++t)
    v.types[t] = fields[2][t] % 6;
  if (!fields[3].empty()) v.end = fields[3][0] - '0';
  try {
    const auto reader = reader_of(v);
    std::size_t bytes = 0;
    for (const std::int32_t t : reader.tokens(fields[4])) bytes += reader.bytes(t).size();
    fuzz::expect(bytes <= fields[4].size());
  } catch (const weft::error& e) {
    const std::string_view what = e.what();
    fuzz::expect(what.size() < 300 && what.find('\n') == what.npos);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool repeated = data[0] >= 250;
  switch (data[0] % 6) {
    case 0:
      merge_letters(fuzz::bytes(data, size).subspan(1), repeated);
      break;
    case 1:
      read_vocabulary(rest);
      break;
    default:
      read_text(std::string(rest), data[0] % 6 - 2, repeated);
  }
  return 0;
}
