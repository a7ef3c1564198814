#include "byte_pairs.hpp"

#include <unicode/uregex.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <weft/run/error.hpp>

#include "quoted.hpp"

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
  const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
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
  static const std::array<std::string, 256> all = [] {
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
void split(std::u16string_view text, URegularExpression* pattern,
           std::vector<std::u16string_view>& to) {
  UErrorCode status = U_ZERO_ERROR;
  uregex_setText(pattern, text.data(), static_cast<std::int32_t>(text.size()), &status);
  std::size_t done = 0;
  const auto add = [&](std::size_t end) {
    if (end > done) to.push_back(text.substr(done, end - done));
    done = std::max(done, end);
  };
  while (uregex_findNext(pattern, &status) && U_SUCCESS(status)) {
    add(static_cast<std::size_t>(uregex_start(pattern, 0, &status)));
    add(static_cast<std::size_t>(uregex_end(pattern, 0, &status)));
  }
  check(status);
  add(text.size());
}

using tokens_of_pieces = std::unordered_map<std::string_view, std::int32_t>;

std::int32_t find(const tokens_of_pieces& tokens, std::string_view piece) {
  const auto found = tokens.find(piece);
  return found == tokens.end() ? -1 : found->second;
}

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

byte_pairs::byte_pairs(const weft::gguf_file& file) {
  constexpr std::int64_t control = 3, user_defined = 4;
  if (const auto model = file.text("tokenizer.ggml.model"); model != "gpt2")
    fail("the file's is " + quoted(model) + ", and only byte-level BPE, 'gpt2', is known");
  const auto pre = file.text("tokenizer.ggml.pre");
  const auto* const found = std::ranges::find(splittings, pre, &splitting::name);
  if (found == splittings.end())
    fail("the file's texts are split as by " + quoted(pre) + ", which is not known");
  for (const auto pattern : found->patterns) {
    if (pattern.empty()) continue;
    UErrorCode status = U_ZERO_ERROR;
    patterns_.emplace_back(
        uregex_open(pattern.data(), static_cast<std::int32_t>(pattern.size()), 0, nullptr, &status),
        &uregex_close);
    check(status);
  }
  for (const auto piece : file.texts("tokenizer.ggml.tokens")) pieces_.emplace_back(piece);
  for (const std::int64_t type : file.integers("tokenizer.ggml.token_type"))
    is_special_.push_back(type == control || type == user_defined);
  if (is_special_.size() != pieces_.size())
    fail("there are " + std::to_string(pieces_.size()) + " tokens, and the types of " +
         std::to_string(is_special_.size()));
  add_merges(file);

  // The empty piece is at every place of a text. Of equal pieces the first stays.
  for (std::size_t t = 0; t < size(); ++t)
    if (is_special_[t] != 0 && !pieces_[t].empty())
      specials_.push_back(static_cast<std::int32_t>(t));
  const auto piece = [&](std::int32_t t) {
    return std::string_view(pieces_[static_cast<std::size_t>(t)]);
  };
  std::ranges::sort(specials_, {}, [&](std::int32_t t) { return std::pair(piece(t), t); });
  const auto equal = [&](std::int32_t a, std::int32_t b) { return piece(a) == piece(b); };
  specials_.erase(std::unique(specials_.begin(), specials_.end(), equal), specials_.end());

  for (const char* const key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    if (!file.contains(key)) continue;
    const std::int64_t token = file.integer(key);
    if (token < 0 || std::cmp_greater_equal(token, size()))
      fail(std::string(key) + " is " + std::to_string(token) + ", and there are " +
           std::to_string(size()) + " tokens");
    ends_.push_back(static_cast<std::int32_t>(token));
  }
  if (ends_.empty()) fail("no token ends an answer: there is no tokenizer.ggml.eos_token_id");
}

void byte_pairs::add_merges(const weft::gguf_file& file) {
  tokens_of_pieces tokens;
  for (std::size_t t = 0; t < size(); ++t) tokens.emplace(pieces_[t], static_cast<std::int32_t>(t));
  for (std::size_t b = 0; b < of_byte_.size(); ++b) of_byte_[b] = find(tokens, characters()[b]);
  for (const auto line : file.texts("tokenizer.ggml.merges")) {
    const auto begins = [&] {
      return "merge " + std::to_string(merges_.size()) + ", " + quoted(line);
    };
    const std::size_t blank = line.find(' ');
    if (blank == 0 || blank >= line.size() - 1 || line.find(' ', blank + 1) != line.npos)
      fail(begins() + ", is not two tokens with a blank between them");
    const std::string_view left = line.substr(0, blank), right = line.substr(blank + 1);
    const auto token = [&](std::string_view piece) {
      const std::int32_t t = find(tokens, piece);
      if (t < 0) fail(begins() + ", needs the token " + quoted(piece) + ", which is not there");
      return t;
    };
    const merge m{token(left), token(right), token(std::string(left).append(right))};
    ranks_.emplace(pair_of(m.left, m.right), static_cast<std::int32_t>(merges_.size()));
    merges_.push_back(m);
  }
}

bool byte_pairs::is_end(std::int32_t token) const {
  return std::ranges::find(ends_, token) != ends_.end();
}

// The longest special token that the text begins with; -1 if there is none.
std::int32_t byte_pairs::special_at(std::string_view text) const {
  // Those with the first n bytes of the text; the only one that has no more comes first.
  auto first = specials_.begin(), last = specials_.end();
  std::int32_t longest = -1;
  for (std::size_t n = 0; first != last; ++n) {
    if (pieces_[static_cast<std::size_t>(*first)].size() == n) longest = *first++;
    if (n == text.size()) break;
    const auto next = [&](std::int32_t t) {
      return static_cast<unsigned char>(pieces_[static_cast<std::size_t>(t)][n]);
    };
    const auto byte = static_cast<unsigned char>(text[n]);
    first = std::ranges::lower_bound(first, last, byte, {}, next);
    last = std::ranges::upper_bound(first, last, byte, {}, next);
  }
  return longest;
}

std::vector<std::int32_t> byte_pairs::tokens(std::string_view text) const {
  std::vector<std::int32_t> all;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t special = special_at(text.substr(at));
    if (special < 0) {
      ++at;
      continue;
    }
    add_plain(text.substr(done, at - done), all);
    all.push_back(special);
    done = at += pieces_[static_cast<std::size_t>(special)].size();
  }
  add_plain(text.substr(done), all);
  return all;
}

std::vector<std::int32_t> byte_pairs::tokens_of_plain(std::string_view text) const {
  std::vector<std::int32_t> all;
  add_plain(text, all);
  return all;
}

void byte_pairs::add_plain(std::string_view text, std::vector<std::int32_t>& to) const {
  constexpr std::size_t most_bytes = 1 << 29;  // ICU counts in 32 bits
  if (text.empty()) return;
  if (text.size() > most_bytes)
    throw weft::error("the text has more than " + std::to_string(most_bytes) + " bytes");
  const std::u16string wide = utf16(text);
  std::vector<std::u16string_view> words{wide};
  for (const auto& pattern : patterns_) {
    // The place in a text is part of an expression, so each call has its own.
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<URegularExpression, decltype(&uregex_close)> own(
        uregex_clone(pattern.get(), &status), &uregex_close);
    // A run of white space takes 24 bytes a character of ICU's stack, which is on the heap.
    uregex_setStackLimit(own.get(), 1 << 29, &status);
    check(status);
    std::vector<std::u16string_view> parts;
    for (const auto word : words) split(word, own.get(), parts);
    words = std::move(parts);
  }
  for (const auto word : words) add_word(utf8(word), to);
}

// Merges the pair of the least rank, of several the leftmost, until none is left.
void byte_pairs::add_word(std::string_view word, std::vector<std::int32_t>& to) const {
  // A merged pair has the place of its left symbol; at the right one's, there is no token any more.
  // Places before the first and after the last are not less than the size.
  struct symbol {
    std::int32_t token;
    std::size_t before, after;
  };
  std::vector<symbol> symbols;
  symbols.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i)
    symbols.push_back({of_byte_[static_cast<unsigned char>(word[i])], i - 1, i + 1});
  using candidate = std::pair<std::int32_t, std::size_t>;  // the rank, and the left symbol's place
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
  const auto propose = [&](std::size_t left) {
    if (left >= symbols.size() || symbols[left].after >= symbols.size()) return;
    const auto found =
        ranks_.find(pair_of(symbols[left].token, symbols[symbols[left].after].token));
    if (found != ranks_.end()) queue.emplace(found->second, left);
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) propose(i);
  while (!queue.empty()) {
    const auto [rank, place] = queue.top();
    queue.pop();
    const merge& m = merges_[static_cast<std::size_t>(rank)];
    symbol& left = symbols[place];
    // One of the two may be part of another pair by now.
    if (left.token != m.left || left.after >= symbols.size() ||
        symbols[left.after].token != m.right)
      continue;
    symbol& right = symbols[left.after];
    left.token = m.result;
    left.after = right.after;
    if (left.after < symbols.size()) symbols[left.after].before = place;
    right.token = -1;
    propose(left.before);
    propose(place);
  }
  // Bytes that no text of the training had are not in every vocabulary: Hugging Face's tokenizers
  // leave them out, too.
  for (const symbol& s : symbols)
    if (s.token >= 0) to.push_back(s.token);
}

std::string byte_pairs::bytes(std::int32_t token) const {
  if (is_special(token)) return "";
  static const std::unordered_map<std::string, char> byte_of = [] {
    std::unordered_map<std::string, char> all;
    for (unsigned b = 0; b < 256; ++b) all.emplace(characters()[b], static_cast<char>(b));
    return all;
  }();
  const std::string& piece = pieces_[static_cast<std::size_t>(token)];
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    // A character of the table has one or two bytes.
    const std::size_t size = static_cast<unsigned char>(piece[at]) < 0x80 ? 1 : 2;
    const auto found = byte_of.find(piece.substr(at, size));
    if (found != byte_of.end()) text.push_back(found->second);
    at += size;
  }
  return text;
}

std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(4, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    const std::size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return back < size ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace chat
