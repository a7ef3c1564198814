// The tokenizer of examples/sentence, with a small vocabulary; and, where the published weights
// are, with BERT's own, and the embeddings.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sentence/embedder.hpp>
#include <sentence/word_pieces.hpp>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/bits.hpp"
#include "support/temporary.hpp"
#include "support/thrown_by.hpp"

namespace {

using sentence::word_pieces, weft::testing::refuses, weft::testing::temporary,
    weft::testing::thrown_by;

struct small_vocabulary {
  small_vocabulary() {
    std::ofstream(file())
        << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\ncafe\nstrasse\n,\n"
           "深\n!\n##!\na\n##a\n";
  }
  std::filesystem::path file() const { return path_; }
  temporary path_{"weft_sentence_test"};
};

std::string pieces(const word_pieces& w, std::string_view text, std::size_t most = 100) {
  std::string all;
  for (const auto token : w.tokens(text, most)) all += (all.empty() ? "" : " ") + w.piece(token);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentence_)

BOOST_AUTO_TEST_CASE(words_are_split_into_their_longest_pieces) {
  const small_vocabulary v;
  const word_pieces w(v.file());
  BOOST_TEST(pieces(w, "") == "[CLS] [SEP]");
  BOOST_TEST(pieces(w, "unaffable") == "[CLS] un ##aff ##able [SEP]");
  BOOST_TEST(pieces(w, "UnAff, caf\u00c9\tcafe\u0301") == "[CLS] un ##aff , cafe cafe [SEP]");
  BOOST_TEST(pieces(w, "un!a") == "[CLS] un ! a [SEP]", "punctuation is a word");
  BOOST_TEST(pieces(w, "un深a") == "[CLS] un 深 a [SEP]", "and so is an ideograph");
  BOOST_TEST(pieces(w, "unx a") == "[CLS] [UNK] a [SEP]");
  BOOST_TEST(pieces(w,
                    "u\u200bn a\x01\xEF\xBF\xBD"
                    "a") == "[CLS] un a ##a [SEP]",
             "format and control characters are left out");
  BOOST_TEST(pieces(w, "a\u3000a\u2028a") == "[CLS] a a a [SEP]");
  BOOST_TEST(pieces(w, std::string(100, 'a'), 102).size() == 5 + 2 + 99 * 4 + 6);
  BOOST_TEST(pieces(w, std::string(101, 'a')) == "[CLS] [UNK] [SEP]");
  BOOST_TEST(pieces(w, "[SEP]a[MASK] [sep]") == "[CLS] [SEP] a [MASK] [UNK] [UNK] [UNK] [SEP]");
}

BOOST_AUTO_TEST_CASE(long_texts_are_cut_and_wrong_ones_refused) {
  const small_vocabulary v;
  const word_pieces w(v.file());
  BOOST_TEST(pieces(w, "a a a a", 4) == "[CLS] a a [SEP]");
  BOOST_TEST(pieces(w, "a", 2) == "[CLS] [SEP]");
  BOOST_TEST(thrown_by([&] { w.tokens("ab\xc3(", 10); }) == "the text is not UTF-8: byte 2 is 195");
  BOOST_TEST(thrown_by([] { word_pieces("/not/there"); }).find("cannot read /not/there") == 0u);
  const temporary other("weft_sentence_test");
  std::ofstream(static_cast<const std::filesystem::path&>(other)) << "a\nb\n";
  refuses([&] { word_pieces{other}; }, "has no piece [CLS]");
}

// The tokens are those of Hugging Face's tokenizers 0.23 with the model's tokenizer.json.
BOOST_AUTO_TEST_CASE(tokens_with_the_published_vocabulary_are_those_of_hugging_face) {
  const std::filesystem::path folder = SENTENCE_MODEL;
  if (!std::filesystem::exists(folder / "vocab.txt")) {
    BOOST_TEST_MESSAGE("left out: " << folder << " is not there; ./run sentence fetches it");
    return;
  }
  const word_pieces w(folder / "vocab.txt");
  using list = std::vector<std::int32_t>;
  const auto same = [&](std::string_view text, const list& expected) {
    BOOST_TEST((w.tokens(text, 512) == expected), text);
  };
  same("Hello, world!", {101, 7592, 1010, 2088, 999, 102});
  same("Café Zürich ÅNGSTRÖM naïve", {101, 7668, 10204, 17076, 15687, 15743, 102});
  same("深度学习 is 深い", {101, 100, 100, 1817, 100, 2003, 100, 1647, 102});
  same("emoji 😀🥰🫠 👍🏽 👨\u200d👩\u200d👧",
       {101, 7861, 29147, 2072, 100, 100, 100, 102});
  same(
      "a\u200bb\u00adc\ufeffd\x07"
      "f\tg",
      {101, 5925, 20952, 1043, 102});
  same(std::string(101, 'x') + " ok", {101, 100, 7929, 102});
  same("[SEP] and [MASK]!", {101, 102, 1998, 103, 999, 102});
  same("İstanbul Straße ΣΑΣ ǅ", {101, 9960, 2358, 27807, 1173, 14608, 29733, 100, 102});
  same("don't stop—now… “q”",
       {101, 2123, 1005, 1056, 2644, 1517, 2085, 1529, 1523, 1053, 1524, 102});
}

BOOST_AUTO_TEST_CASE(embeddings_do_not_depend_on_what_they_are_computed_with) {
  const std::filesystem::path folder = SENTENCE_MODEL;
  if (!std::filesystem::exists(folder / "model.safetensors")) {
    BOOST_TEST_MESSAGE("left out: " << folder << " is not there; ./run sentence fetches it");
    return;
  }
  sentence::embedder e(folder);
  std::vector<std::string> texts{"A cat sits on the mat.", "The feline rests on a rug.",
                                 "Interest rates rose again."};
  const auto all = e.embed(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    BOOST_TEST(std::abs(sentence::cosine(all[i], all[i]) - 1) < 1e-5);
    BOOST_TEST(std::abs(sentence::cosine(all[i], e.embed({texts[i]})[0]) - 1) < 1e-5);
  }
  BOOST_TEST(sentence::cosine(all[0], all[1]) > sentence::cosine(all[0], all[2]) + 0.3);
  texts.assign(40, "one");
  texts.push_back("");
  texts.push_back(std::string(4000, 'a') + std::string(4000, ' ') + "b");
  BOOST_TEST(e.embed(texts).size() == 42u);
  BOOST_TEST(e.embed({}).empty());
}

BOOST_AUTO_TEST_CASE(embeddings_have_the_same_bits_on_all_targets_of_a_family,
                     *boost::unit_test::label("full")) {
  const std::filesystem::path folder = SENTENCE_MODEL;
  if (!std::filesystem::exists(folder / "model.safetensors")) {
    BOOST_TEST_MESSAGE("left out: " << folder << " is not there; ./run sentence fetches it");
    return;
  }
  std::map<weft::target_family, std::uint64_t> of_family;
  weft::kernels::on_every_target([&](const auto&) {
    sentence::embedder e(folder);
    std::vector<std::vector<double>> all;
    for (const auto& v :
         e.embed({"A cat sits on the mat.", "one", std::string(4000, 'a') + " b c"}))
      all.emplace_back(v.begin(), v.end());
    const std::uint64_t hash = weft::testing::hash_of(all);
    BOOST_TEST(hash == of_family.try_emplace(weft::family(), hash).first->second);
  });
}

BOOST_AUTO_TEST_SUITE_END()
