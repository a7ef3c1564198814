// The parts of examples/chat: templates, byte pairs, and the choice of tokens.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chat/byte_pairs.hpp>
#include <chat/chat_template.hpp>
#include <chat/conversation.hpp>
#include <chat/sampler.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/gguf_builder.hpp"
#include "support/letter_pairs.hpp"
#include "support/thrown_by.hpp"

namespace {

using chat::chat_template, weft::testing::gguf_builder, weft::testing::letter_pairs,
    weft::testing::refuses, weft::testing::says, weft::testing::thrown_by,
    weft::testing::vocabulary;
using ids = std::vector<std::int32_t>;

std::vector<chat::message> const talk{
    {"system", " S\n"}, {"user", "x y"}, {"assistant", "  ok"}, {"user", "z"}};

std::string applied(const std::string& text, bool add_prompt = true) {
  return chat_template(text).apply(talk, add_prompt);
}
void refused(const std::string& text, const std::string& sentence) {
  refuses([&] { applied(text); }, sentence);
}

// A vocabulary of the bytes of "hello wrd", of four merges, and of a special token.
vocabulary hello() {
  return {.pieces = {"h", "e", "l", "o", "w", "r", "d", "Ġ", "he", "ll", "hell", "Ġhell", "1",
                     "<|end|>"},
          .merges = {"h e", "l l", "he ll", "Ġ hell"},
          .types = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3},
          .words = "smollm",
          .end = 13};
}
chat::byte_pairs reader_of(const vocabulary& v) {
  return chat::byte_pairs(weft::gguf_file(v.file().bytes(), "x"));
}
// The vocabulary with special tokens after its own.
vocabulary with_special(vocabulary v, const std::vector<std::string>& pieces) {
  v.pieces.insert(v.pieces.end(), pieces.begin(), pieces.end());
  v.types.resize(v.pieces.size(), 3);
  return v;
}
std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chat_)

// The expected texts are those of Jinja2 3.1 with trim_blocks and lstrip_blocks, as transformers
// sets them.
BOOST_AUTO_TEST_CASE(templates_give_what_jinja_gives) {
  BOOST_TEST(applied("{% for message in messages %}{{ '<|' + message['role'] + '|>' + "
                     "message['content'] | trim }}{% endfor %}"
                     "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}") ==
             "<|system|>S<|user|>x y<|assistant|>ok<|user|>z<|assistant|>");
  BOOST_TEST(applied("{%- for m in messages -%}\n  {%- if not loop.first and m.content is defined "
                     "%}, {% endif -%}\n   {# a comment #}  \n {{- m.role.strip() -}}  : {{ "
                     "(m['content'] ) }}{% endfor %}") ==
             "system:  S\n, user: x y, assistant:   ok, user: z");
  BOOST_TEST(applied("a\n  {% for m in messages %}\n  <{{ m.role }}>\n  {% if 'x' in m.content or "
                     "loop.last %}\n    yes{{ loop.index + 1 }}\n  {% else %}\n    no\n  {% endif "
                     "%}\n  {% endfor %}\nend {{ messages[-1].content }} {{ 'it\\'s' }}") ==
             "a\n  <system>\n    no\n  <user>\n    yes3\n  <assistant>\n    no\n  <user>\n    "
             "yes5\nend z it's");
  BOOST_TEST(applied("{% set n = messages[1]['nothing'] is none %}{{ n }}{{ missing }}{{ 1 == 2 }}"
                     "{{ none is none }}{{ none }}",
                     false) == "FalseFalseTrueNone");
  BOOST_TEST(applied("{% if add_generation_prompt %}a{% elif messages %}b{% else %}c{% endif %}",
                     false) == "b");
  BOOST_TEST(applied("") == "");
}

BOOST_AUTO_TEST_CASE(wrong_templates_are_refused) {
  refused("{{ raise_exception('no ' + messages[0].role) }}", "the chat template: no system");
  refused("{% for m in messages %}", "there is no 'endfor'");
  refused("{% endif %}", "'endif' is not known");
  refused("{% macro f() %}", "is not known");
  refused("{{ 'a }}", "a tag has no end");
  refused("{{ (1 }}", "')' is missing");
  refused("{{ 1 2 }}", "'2' is not understood");
  refused("{{ x | upper }}", "the filter 'upper' is not known");
  refused("{{ 1 + 'a' }}", "+ is of two texts or two integers");
  refused("{% for m in 1 %}{% endfor %}", "is over no list");
  refused("{{ " + std::string(1000, '(') + " }}", "nested deeper than 100 levels");
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "{% if 1 %}";
  refused(nested, "nested deeper than 50 levels");
}

BOOST_AUTO_TEST_CASE(merges_are_applied_by_rank_and_special_tokens_stand_for_themselves) {
  auto const pairs = reader_of(hello());
  auto const tokens = [&](std::string_view text) { return pairs.tokens(text); };
  BOOST_TEST((tokens("hello hello") == ids{10, 3, 11, 3}));
  BOOST_TEST((tokens("11<|end|>held") == ids{12, 12, 13, 8, 2, 6}), "digits are words each");
  BOOST_TEST(tokens("").empty());
  BOOST_TEST((pairs.tokens_of_plain("<|end|>d") == ids{1, 6, 6}), "'e', 'd' and a 'd'");
  BOOST_TEST(pairs.bytes(11) == " hell");
  BOOST_TEST(pairs.bytes(13) == "");
  BOOST_TEST(pairs.is_special(13));
  BOOST_TEST((pairs.is_end(13) && !pairs.is_end(12)));
  BOOST_TEST(thrown_by([&] { tokens("\xff"); }) == "the text is not UTF-8");
}

BOOST_AUTO_TEST_CASE(any_merges_give_the_tokens_of_the_definition) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    letter_pairs pairs;
    unsigned const letters = 1 + random() % 8;
    for (int m = 0; m < 30; ++m) {
      // Half of the merges are of what earlier ones made.
      auto const any = [&] {
        return random() % 2 == 0 ? random() % letters : random() % pairs.size();
      };
      std::size_t const left = any(), right = any();
      if (pairs.piece(left).size() + pairs.piece(right).size() <= 40) pairs.merge(left, right);
    }
    auto const reader = reader_of(pairs.file());
    for (std::size_t size = 1; size <= 100; size += 7) {
      std::string word;
      for (std::size_t i = 0; i < size; ++i)
        word.push_back(static_cast<char>('a' + random() % letters));
      BOOST_TEST((reader.tokens(word) == pairs.tokens(word)), "trial " << trial << ": " << word);
    }
  }
}

// In quadratic time, it is minutes for most of these.
BOOST_AUTO_TEST_CASE(long_texts_take_a_time_that_grows_with_their_length,
                     *boost::unit_test::label("full")) {
  constexpr std::size_t size = 64000;
  letter_pairs pairs;
  pairs.merge(0, 0);
  for (std::size_t m = pairs.size() - 1; m < 11; ++m) pairs.merge(m, m);
  auto const merged = reader_of(pairs.file()).tokens(std::string(size, 'a'));
  BOOST_TEST(merged.size() == size / 16);
  auto v = with_special(hello(), {"<", "<|x|>"});
  for (char const* const words : {"gpt-2", "smollm", "llama-bpe", "qwen2"}) {
    v.words = words;
    auto const reader = reader_of(v);
    auto const count = [&](const std::string& text) {
      return reader.tokens(repeated(text, size)).size();
    };
    BOOST_TEST(count("l") == size / 2);
    BOOST_TEST(count("1") == size);
    BOOST_TEST(count(" ") == size);
    BOOST_TEST(count(" \n") == size);
    BOOST_TEST(count("<|end|>") == size);
    BOOST_TEST(count("<|end|") == 3 * size);
    BOOST_TEST(count(" d") == 2 * size);
  }
}

BOOST_AUTO_TEST_CASE(of_special_tokens_at_a_place_the_longest_is_taken) {
  auto const reader =
      reader_of(with_special(hello(), {"<|e", "<|end|><", "é", "<|end|>", "\xff", "hell"}));
  BOOST_TEST((reader.tokens("<|e<|end|><|end|>é<|end") == ids{14, 15, 1, 6, 16, 14, 6}),
             "'|', 'n' and '>' are no tokens");
  BOOST_TEST((reader.tokens("hhello") == ids{0, 19, 3}), "before any merge");
}

BOOST_AUTO_TEST_CASE(tokens_without_text_or_twice_in_the_vocabulary_do_no_harm) {
  auto const reader = reader_of(with_special(hello(), {"", "<|end|>", "", "<|end|>"}));
  BOOST_TEST((reader.tokens("he<|end|>d") == ids{8, 13, 6}));
  BOOST_TEST(reader.bytes(14) == "");
  auto const only = reader_of(with_special({.pieces = {"a"}, .merges = {}}, {""}));
  BOOST_TEST((only.tokens("aba") == ids{0, 0}));
  vocabulary twice = hello();
  twice.pieces[12] = "he";
  BOOST_TEST((reader_of(twice).tokens("hello") == ids{10, 3}));
  twice.merges = {"l l", "h e", "h e", "he ll"};
  BOOST_TEST((reader_of(twice).tokens("hello") == ids{10, 3}));
}

BOOST_AUTO_TEST_CASE(incomplete_vocabularies_are_refused) {
  auto const says_of = [](auto change, std::string_view sentence) {
    vocabulary v = hello();
    change(v);
    std::string const said = thrown_by([&] { reader_of(v); });
    says(said, sentence);
    BOOST_TEST((said.starts_with("the tokenizer: ") && said.size() < 300), said);
    BOOST_TEST((said.find('\n') == said.npos), said);
  };
  auto const of_merge = [&](const std::string& merge, std::string_view sentence) {
    says_of([&](vocabulary& v) { v.merges[2] = merge; }, sentence);
  };
  for (char const* const line : {"", " ", "hell", "h ", " e", "h e l", "h  e"})
    of_merge(line, "merge 2, '" + std::string(line) + "', is not two tokens with a blank between");
  of_merge("h x", "merge 2, 'h x', needs the token 'x', which is not there");
  of_merge("x e", "needs the token 'x', which is not there");
  of_merge("h o", "needs the token 'ho', which is not there");
  of_merge("h " + std::string(100000, '\n'), "merge 2, 'h   ");
  says_of([](vocabulary& v) { v.types.pop_back(); }, "there are 14 tokens, and the types of 13");
  says_of([](vocabulary& v) { v.pieces.clear(); }, "there are 0 tokens, and the types of 14");
  says_of([](vocabulary& v) { v.words = "a\nb"; }, "split as by 'a b', which is not known");
  for (std::int32_t const end : {14, -1, std::numeric_limits<std::int32_t>::max()})
    says_of([&](vocabulary& v) { v.end = end; },
            "eos_token_id is " + std::to_string(end) + ", and there are 14 tokens");
  gguf_builder no_end(0, 5);
  no_end.text_value("tokenizer.ggml.model", "gpt2").text_value("tokenizer.ggml.pre", "gpt-2");
  no_end.texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {});
  no_end.integers("tokenizer.ggml.token_type", {1});
  refuses([&] { chat::byte_pairs(weft::gguf_file(no_end.bytes(), "x")); },
          "no token ends an answer: there is no tokenizer.ggml.eos_token_id");
}

BOOST_AUTO_TEST_CASE(other_tokenizers_are_refused) {
  gguf_builder none;
  BOOST_TEST(thrown_by([&] { chat::byte_pairs(weft::gguf_file(none.bytes(), "x")); }) ==
             "x: metadata 'tokenizer.ggml.model' is not there");
  gguf_builder other(0, 1);
  other.text_value("tokenizer.ggml.model", "llama");
  refuses([&] { chat::byte_pairs(weft::gguf_file(other.bytes(), "x")); }, "the file's is 'llama'");
}

BOOST_AUTO_TEST_CASE(the_most_likely_tokens_are_chosen_by_their_probabilities) {
  std::vector<float> const logits{1, 3, 2, -5};
  chat::sampler greedy({});
  BOOST_TEST(greedy(logits) == 1);
  auto const counts = [&](const chat::sampling& options) {
    chat::sampler choose(options);
    std::map<std::int32_t, int> all;
    for (int i = 0; i < 4000; ++i) ++all[choose(logits)];
    return all;
  };
  auto two = counts({.temperature = 1, .top_k = 2, .top_p = 1});
  BOOST_TEST(two.size() == 2u);
  // The odds are e to 1: 0.731 with a standard deviation of 0.007.
  BOOST_TEST(std::abs(two[1] / 4000.0 - 0.731) < 0.035);
  BOOST_TEST(counts({.temperature = 1, .top_k = 0, .top_p = 0.6}).size() == 1u);
  BOOST_TEST(counts({.temperature = 1, .top_k = 0, .top_p = 0.7}).size() == 2u);
  BOOST_TEST(counts({.temperature = 100, .top_k = 0, .top_p = 1}).size() == 4u);
  BOOST_TEST((counts({.temperature = 1, .seed = 3}) == counts({.temperature = 1, .seed = 3})));
}

// The tokens are those that transformers 5.24 chooses in float32 from the same file, by its
// generate(do_sample=False).
BOOST_AUTO_TEST_CASE(the_published_weights_answer_as_in_transformers) {
  std::filesystem::path const file = CHAT_MODEL;
  if (!std::filesystem::exists(file)) {
    BOOST_TEST_MESSAGE("left out: " << file << " is not there; ./run chat fetches it");
    return;
  }
  chat::conversation::weights how;
  how.precision = weft::precision::float32;
  chat::conversation talk(weft::gguf_file(file), how, {}, "");
  std::string streamed;
  auto const stream = [&](std::string_view part) { streamed += part; };
  std::string const expected =
      "The answer to this question lies in the intricate dance of light and color. The sky appears "
      "blue because of a phenomenon known as Rayleigh scattering. This occurs when light "
      "encounters "
      "molecules of air, which scatter";
  BOOST_TEST(talk.answer("Why is the sky blue?", 40, stream) == expected);
  BOOST_TEST(streamed == expected);
  BOOST_TEST(talk.last().prompt == 36u);
  BOOST_TEST(talk.last().answer == 40u);
  BOOST_TEST(!talk.is_full());
}

BOOST_AUTO_TEST_SUITE_END()
