#include "word_pieces.hpp"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>
#include <weft/run/error.hpp>

namespace sentence {

namespace {

constexpr std::size_t longest_word = 100;  // in characters; a longer one is [UNK]

// The characters of a text. Throws weft::error where it is not UTF-8.
std::u32string decoded(std::string_view text) {
  std::u32string all;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<std::int64_t>(text.size());
  for (std::int64_t at = 0; at < size;) {
    const std::int64_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes, at, size, c);
    if (c < 0)
      throw weft::error("the text is not UTF-8: byte " + std::to_string(begin) + " is " +
                        std::to_string(bytes[begin]));
    all.push_back(static_cast<char32_t>(c));
  }
  return all;
}

void append(std::string& to, char32_t c) {
  std::array<char, U8_MAX_LENGTH> bytes;
  std::int32_t size = 0;
  U8_APPEND_UNSAFE(bytes.data(), size, static_cast<UChar32>(c));
  to.append(bytes.data(), static_cast<std::size_t>(size));
}

bool is_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

// Characters that BERT leaves out: zero, the replacement character, and those of control, format
// and private use, but for the white space among them.
bool is_left_out(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  const auto category = u_charType(static_cast<UChar32>(c));
  return c == 0xfffd || category == U_CONTROL_CHAR || category == U_FORMAT_CHAR ||
         category == U_PRIVATE_USE_CHAR;
}

bool is_punctuation(char32_t c) {
  const bool of_ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
                        (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  return of_ascii || u_ispunct(static_cast<UChar32>(c)) != 0;
}

// The blocks of CJK ideographs, each of which is a word.
bool is_ideograph(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> blocks{{{0x4e00, 0x9fff},
                                                                 {0x3400, 0x4dbf},
                                                                 {0x20000, 0x2a6df},
                                                                 {0x2a700, 0x2b73f},
                                                                 {0x2b740, 0x2b81f},
                                                                 {0x2b920, 0x2ceaf},
                                                                 {0xf900, 0xfaff},
                                                                 {0x2f800, 0x2fa1f}}};
  return std::ranges::any_of(blocks, [c](auto b) { return c >= b.first && c <= b.second; });
}

// The canonical decomposition without the marks, in lower case.
std::u32string without_accents(std::u32string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* const nfd = unorm2_getNFDInstance(&status);
  if (U_FAILURE(status)) throw weft::error(std::string("ICU: ") + u_errorName(status));
  // Marks are left out, so their canonical order does not matter, and each character is decomposed
  // alone.
  std::u32string all;
  for (const char32_t c : text) {
    std::array<UChar, 32> parts{};
    UErrorCode failed = U_ZERO_ERROR;
    const std::int32_t size =
        unorm2_getDecomposition(nfd, static_cast<UChar32>(c), parts.data(),
                                static_cast<std::int32_t>(parts.size()), &failed);
    const auto add = [&](UChar32 part) {
      if (u_charType(part) != U_NON_SPACING_MARK)
        all.push_back(static_cast<char32_t>(u_tolower(part)));
    };
    if (size < 0 || U_FAILURE(failed)) {
      add(static_cast<UChar32>(c));
      continue;
    }
    for (std::int32_t at = 0; at < size;) {
      UChar32 part = 0;
      U16_NEXT(parts.data(), at, size, part);
      add(part);
    }
  }
  return all;
}

// What a text is split at before anything else: the tokens that stand for no text.
constexpr std::array<std::string_view, 5> special_pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                         "[MASK]"};

std::optional<std::string_view> special_at(std::string_view text) {
  for (const std::string_view piece : special_pieces)
    if (text.starts_with(piece)) return piece;
  return std::nullopt;
}

}  // namespace

word_pieces::word_pieces(const std::filesystem::path& vocabulary) {
  std::ifstream in(vocabulary);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    tokens_.emplace(line, static_cast<std::int32_t>(pieces_.size()));
    pieces_.push_back(std::move(line));
  }
  if (pieces_.empty())
    throw weft::error("cannot read " + vocabulary.string() + "; name a vocabulary, a piece a line");
  begin_ = special(vocabulary, "[CLS]");
  end_ = special(vocabulary, "[SEP]");
  unknown_ = special(vocabulary, "[UNK]");
}

std::int32_t word_pieces::find(const std::string& piece) const {
  const auto found = tokens_.find(piece);
  return found == tokens_.end() ? -1 : found->second;
}

std::int32_t word_pieces::special(const std::filesystem::path& file,
                                  const std::string& piece) const {
  const std::int32_t token = find(piece);
  if (token < 0)
    throw weft::error(file.string() + " has no piece " + piece + "; name BERT's vocab.txt");
  return token;
}

std::vector<std::int32_t> word_pieces::tokens(std::string_view text, std::size_t most) const {
  std::vector<std::int32_t> all{begin_};
  while (!text.empty()) {
    std::size_t end = text.find('[');
    while (end != text.npos && !special_at(text.substr(end))) end = text.find('[', end + 1);
    add_words(decoded(text.substr(0, end)), all);
    if (end == text.npos) break;
    const std::string piece(*special_at(text.substr(end)));
    if (const std::int32_t token = find(piece); token >= 0) all.push_back(token);
    text.remove_prefix(end + piece.size());
  }
  if (all.size() > most - 1) all.resize(most - 1);
  all.push_back(end_);
  return all;
}

void word_pieces::add_words(std::u32string_view text, std::vector<std::int32_t>& to) const {
  std::u32string clean;
  for (const char32_t c : text)
    if (!is_left_out(c)) clean.push_back(is_space(c) ? U' ' : c);
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) add_pieces(word, to);
    word.clear();
  };
  for (const char32_t c : without_accents(clean)) {
    const bool alone = is_punctuation(c) || is_ideograph(c);
    if (alone || is_space(c)) end_word();
    if (!is_space(c)) word.push_back(c);
    if (alone) end_word();
  }
  end_word();
}

void word_pieces::add_pieces(std::u32string_view word, std::vector<std::int32_t>& to) const {
  const std::size_t before = to.size();
  const auto unknown = [&] {
    to.resize(before);
    to.push_back(unknown_);
  };
  if (word.size() > longest_word) return unknown();
  while (!word.empty()) {
    // The piece of each length, of which the longest in the vocabulary is taken.
    std::string piece = to.size() == before ? "" : "##";
    std::int32_t longest = -1;
    std::size_t taken = 0;
    for (std::size_t n = 0; n < word.size(); ++n) {
      append(piece, word[n]);
      if (const std::int32_t token = find(piece); token >= 0) {
        longest = token;
        taken = n + 1;
      }
    }
    if (longest < 0) return unknown();
    to.push_back(longest);
    word.remove_prefix(taken);
  }
}

}  // namespace sentence
