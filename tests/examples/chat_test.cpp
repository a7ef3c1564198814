// The parts of examples/chat: templates, byte pairs, and the choice of tokens.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chat/byte_pairs.hpp>
#include <chat/chat_template.hpp>
#include <chat/conversation.hpp>
#include <chat/sampler.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/gguf_builder.hpp"
#include "support/thrown_by.hpp"

namespace {

using chat::chat_template, weft::testing::gguf_builder, weft::testing::refuses,
    weft::testing::thrown_by;

std::vector<chat::message> const talk{
    {"system", " S\n"}, {"user", "x y"}, {"assistant", "  ok"}, {"user", "z"}};

std::string applied(const std::string& text, bool add_prompt = true) {
  return chat_template(text).apply(talk, add_prompt);
}
void refused(const std::string& text, const std::string& sentence) {
  refuses([&] { applied(text); }, sentence);
}

// A vocabulary of the bytes of "hello wrd", of four merges, and of a special token.
gguf_builder vocabulary() {
  std::vector<std::string> const pieces{"h", "e",  "l",  "o",    "w",     "r", "d",
                                        "Ġ", "he", "ll", "hell", "Ġhell", "1", "<|end|>"};
  std::vector<std::string> const merges{"h e", "l l", "he ll", "Ġ hell"};
  std::vector<std::int32_t> types(pieces.size(), 1);
  types.back() = 3;
  gguf_builder b(0, 5);
  b.text_value("tokenizer.ggml.model", "gpt2").text_value("tokenizer.ggml.pre", "smollm");
  b.texts("tokenizer.ggml.tokens", pieces).texts("tokenizer.ggml.merges", merges);
  return b.integers("tokenizer.ggml.token_type", types);
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
  auto b = vocabulary();
  chat::byte_pairs const pairs(weft::gguf_file(b.bytes(), "x"));
  auto const tokens = [&](std::string_view text) { return pairs.tokens(text); };
  using list = std::vector<std::int32_t>;
  BOOST_TEST((tokens("hello hello") == list{10, 3, 11, 3}));
  BOOST_TEST((tokens("11<|end|>held") == list{12, 12, 13, 8, 2, 6}), "digits are words each");
  BOOST_TEST(tokens("").empty());
  BOOST_TEST(pairs.bytes(11) == " hell");
  BOOST_TEST(pairs.bytes(13) == "");
  BOOST_TEST(pairs.is_special(13));
  BOOST_TEST(thrown_by([&] { tokens("\xff"); }) == "the text is not UTF-8");
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
