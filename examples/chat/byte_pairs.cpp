#include "byte_pairs.hpp"

#include <unicode/uregex.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <weft/run/error.hpp>

namespace chat {

namespace {

// The patterns by which texts are split into words before any merge, by the names that GGUF's
// tokenizer.ggml.pre has for them. They are those of the models' tokenizer.json.
struct splitting {
  std::string_view name;
  std::array<std::u16string_view, 2> patterns;
};
constexpr std::u16string_view gpt2_words =
    uR"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::array splittings{
    splitting{"gpt-2", {gpt2_words, u""}},
    splitting{"smollm", {uR"(\p{N})", gpt2_words}},
    splitting{
        "llama-bpe",
        {uR"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
         u""}},
    splitting{
        "qwen2",
        {uR"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
         u""}},
};

[[noreturn]] void fail(const std::string& what) {
  throw weft::error("the tokenizer: " + what);
}
void check(UErrorCode status) {
  if (U_FAILURE(status)) fail(std::string("ICU: ") + u_errorName(status));
}

// The character that stands for each byte in the vocabulary: printable ones for themselves, the
// others from U+0100 on.
std::string character_of(unsigned byte) {
  bool const printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
                         (byte >= 0xae && byte <= 0xff);
  UChar32 c = static_cast<UChar32>(byte);
  if (!printable) {
    c = 256;
    for (unsigned b = 0; b < byte; ++b)
      c += !((b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff));
  }
  std::array<char, U8_MAX_LENGTH> bytes;
  std::int32_t size = 0;
  U8_APPEND_UNSAFE(bytes.data(), size, c);
  return {bytes.data(), static_cast<std::size_t>(size)};
}
const std::array<std::string, 256>& characters() {
  static std::array<std::string, 256> const all = [] {
    std::array<std::string, 256> each;
    for (unsigned b = 0; b < 256; ++b) each[b] = character_of(b);
    return each;
  }();
  return all;
}

std::u16string utf16(std::string_view text) {
  std::u16string to(text.size(), u'\0');  // UTF-16 has no more units than UTF-8 has bytes
  std::int32_t size = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8(to.data(), static_cast<std::int32_t>(to.size()), &size, text.data(),
                static_cast<std::int32_t>(text.size()), &status);
  if (status == U_INVALID_CHAR_FOUND) throw weft::error("the text is not UTF-8");
  check(status);
  to.resize(static_cast<std::size_t>(size));
  return to;
}
std::string utf8(std::u16string_view text) {
  std::string to(3 * text.size(), '\0');
  std::int32_t size = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strToUTF8(to.data(), static_cast<std::int32_t>(to.size()), &size, text.data(),
              static_cast<std::int32_t>(text.size()), &status);
  check(status);
  to.resize(static_cast<std::size_t>(size));
  return to;
}

// The matches of a pattern in a text, and what is between them.
std::vector<std::u16string_view> split(std::u16string_view text, const std::u16string& pattern) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<URegularExpression, decltype(&uregex_close)> const expression(
      uregex_open(pattern.data(), static_cast<std::int32_t>(pattern.size()), 0, nullptr, &status),
      &uregex_close);
  check(status);
  uregex_setText(expression.get(), text.data(), static_cast<std::int32_t>(text.size()), &status);
  std::vector<std::u16string_view> all;
  std::size_t done = 0;
  auto const add = [&](std::size_t end) {
    if (end > done) all.push_back(text.substr(done, end - done));
    done = std::max(done, end);
  };
  while (uregex_findNext(expression.get(), &status) && U_SUCCESS(status)) {
    add(static_cast<std::size_t>(uregex_start(expression.get(), 0, &status)));
    add(static_cast<std::size_t>(uregex_end(expression.get(), 0, &status)));
  }
  check(status);
  add(text.size());
  return all;
}

}  // namespace

byte_pairs::byte_pairs(const weft::gguf_file& file) {
  constexpr std::int64_t control = 3, user_defined = 4;
  if (auto const model = file.text("tokenizer.ggml.model"); model != "gpt2")
    fail("the file's is '" + std::string(model) + "', and only byte-level BPE, 'gpt2', is known");
  auto const pre = file.text("tokenizer.ggml.pre");
  auto const* const found = std::ranges::find(splittings, pre, &splitting::name);
  if (found == splittings.end())
    fail("the file's texts are split as by '" + std::string(pre) + "', which is not known");
  for (auto const pattern : found->patterns)
    if (!pattern.empty()) patterns_.emplace_back(pattern);
  for (auto const piece : file.texts("tokenizer.ggml.tokens")) {
    tokens_.emplace(piece, static_cast<std::int32_t>(pieces_.size()));
    pieces_.emplace_back(piece);
  }
  for (std::int64_t const type : file.integers("tokenizer.ggml.token_type"))
    is_special_.push_back(type == control || type == user_defined);
  if (is_special_.size() != pieces_.size())
    fail("there are " + std::to_string(pieces_.size()) + " tokens, and the types of " +
         std::to_string(is_special_.size()));
  for (auto const merge : file.texts("tokenizer.ggml.merges")) ranks_.emplace(merge, ranks_.size());
}

std::vector<std::int32_t> byte_pairs::tokens(std::string_view text) const {
  std::vector<std::int32_t> all;
  while (!text.empty()) {
    // The first special token in the text; of two at one place, the longer.
    std::size_t at = text.size(), size = 0;
    std::int32_t special = -1;
    for (std::size_t t = 0; t < pieces_.size(); ++t) {
      if (is_special_[t] == 0) continue;
      std::size_t const found = text.find(pieces_[t]);
      if (found < at || (found == at && found != text.npos && pieces_[t].size() > size)) {
        at = found;
        size = pieces_[t].size();
        special = static_cast<std::int32_t>(t);
      }
    }
    auto const before = tokens_of_plain(text.substr(0, at));
    all.insert(all.end(), before.begin(), before.end());
    if (special >= 0) all.push_back(special);
    text.remove_prefix(at + size);
  }
  return all;
}

std::vector<std::int32_t> byte_pairs::tokens_of_plain(std::string_view text) const {
  std::u16string const wide = utf16(text);
  std::vector<std::u16string_view> words{wide};
  for (auto const& pattern : patterns_) {
    std::vector<std::u16string_view> parts;
    for (auto const word : words) {
      auto const some = split(word, pattern);
      parts.insert(parts.end(), some.begin(), some.end());
    }
    words = std::move(parts);
  }
  std::vector<std::int32_t> all;
  for (auto const word : words) add_word(utf8(word), all);
  return all;
}

// Merges the pair of the least rank until none is left.
void byte_pairs::add_word(std::string_view word, std::vector<std::int32_t>& to) const {
  std::vector<std::string> parts;
  for (char const c : word) parts.push_back(characters()[static_cast<unsigned char>(c)]);
  while (parts.size() > 1) {
    std::size_t best = parts.size(), least = ranks_.size();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      auto const found = ranks_.find(parts[i] + ' ' + parts[i + 1]);
      if (found == ranks_.end() || found->second >= least) continue;
      least = found->second;
      best = i;
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  for (auto const& part : parts) {
    auto const found = tokens_.find(part);
    // Bytes that no text of the training had are not in every vocabulary: Hugging Face's tokenizers
    // leave them out, too.
    if (found != tokens_.end()) to.push_back(found->second);
  }
}

std::string byte_pairs::bytes(std::int32_t token) const {
  if (is_special(token)) return "";
  static std::unordered_map<std::string, char> const byte_of = [] {
    std::unordered_map<std::string, char> all;
    for (unsigned b = 0; b < 256; ++b) all.emplace(characters()[b], static_cast<char>(b));
    return all;
  }();
  std::string const& piece = pieces_[static_cast<std::size_t>(token)];
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    // A character of the table has one or two bytes.
    std::size_t const size = static_cast<unsigned char>(piece[at]) < 0x80 ? 1 : 2;
    auto const found = byte_of.find(piece.substr(at, size));
    if (found != byte_of.end()) text.push_back(found->second);
    at += size;
  }
  return text;
}

}  // namespace chat
