// The parts of examples/chat: templates, byte pairs, and the choice of tokens.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chat/byte_pairs.hpp>
#include <chat/chat_template.hpp>
#include <chat/conversation.hpp>
#include <chat/sampler.hpp>
#include <chat/stream.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/bits.hpp"
#include "support/gguf_builder.hpp"
#include "support/letter_pairs.hpp"
#include "support/thrown_by.hpp"

namespace {

using chat::chat_template, weft::testing::gguf_builder, weft::testing::letter_pairs,
    weft::testing::refuses, weft::testing::says, weft::testing::thrown_by,
    weft::testing::vocabulary;
using ids = std::vector<std::int32_t>;

const std::vector<chat::message> talk{
    {"system", " S\n"}, {"user", "x y"}, {"assistant", "  ok"}, {"user", "z"}};

std::string applied(const std::string& text, bool add_prompt = true) {
  return chat_template(text).apply(talk, add_prompt);
}
// Checks that the template is refused in one line that has the sentence.
void refused(const std::string& text, const std::string& sentence) {
  const std::string said = thrown_by([&] { applied(text); });
  says(said, sentence);
  BOOST_TEST(said.starts_with("the chat template, line "), said);
  BOOST_TEST((said.find('\n') == said.npos && said.size() < 300), said);
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
// One layer: what is kept of a token depends on that token alone.
struct one_layer {
  static constexpr int vocab = 13, embed = 8, kv_heads = 1, group = 2, head_dim = 4, hidden = 8,
                       layers = 1;
  static constexpr double epsilon = 1e-5;
  static constexpr weft::nn::rotary_options rotary{.base = 100};
};
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

// Each turn has its own variables.
BOOST_AUTO_TEST_CASE(what_is_set_in_a_turn_of_a_loop_is_not_seen_in_the_next) {
  BOOST_TEST(applied("{% set x = 0 %}{% for m in messages %}{{ x }}{% set x = x + loop.index %}"
                     "{{ x }} {% endfor %}{{ x }}") == "01 02 03 04 0");
  BOOST_TEST(applied("{% for m in messages %}{% if loop.first %}{% set x = 1 %}{% endif %}"
                     "{{ x is defined }} {% endfor %}") == "True False False False ");
}

BOOST_AUTO_TEST_CASE(wrong_templates_are_refused_in_one_line_that_says_what_and_where) {
  refused("{{ raise_exception('no ' + messages[0].role) }}", "line 1, column 4: no system");
  refused("a{% for m in messages %}\n", "line 1, column 5: there is no 'endfor'");
  refused("{% if 1 %}{% else %}", "column 4: there is no 'endif'");
  refused("\n\n {% endif %}", "line 3, column 5: the statement 'endif' is not known");
  refused("{% for m in messages %}{% else %}{% endfor %}", "the statement 'else' is not known");
  refused("{% macro f() %}", "the statement 'macro f()' is not known");
  refused("{% %}", "column 4: a statement is missing");
  refused("{{ 'a }}", "column 1: a tag has no end");
  refused("{% set a 1 %}", "'=' is missing before '1'");
  refused("{% for m messages %}{% endfor %}", "column 10: 'in' is missing before 'messages'");
  refused("{{ (1 }}", "column 7: ')' is missing before the end of the tag");
  refused("{{ }}", "an expression is missing");
  refused("{{ 1 2 }}", "column 6: '2' is not understood");
  refused("{{ x |  upper }}", "column 9: the filter 'upper' is not known");
  refused("{{ x.lower() }}", "column 6: the method 'lower' is not known");
  refused("{{ x is odd }}", "column 9: the test 'odd' is not known");
  refused("{{ 1 + 'a' }}", "column 4: + is of two texts or two integers");
  refused("{{ none + none }}", "+ is of two texts or two integers");
  refused("{{ none | trim }}", "trim is of a text");
  refused("{{ messages }}", "a list or an object is printed");
  for (const char* const no_list : {"1", "'a'", "none", "missing", "messages[0]"})
    refused("{% for m in " + std::string(no_list) + " %}{% endfor %}", "is over no list");
  refused("{{ raise_exception('a\nb') }}", "a b");
  refused("{% " + std::string(100000, 'a') + "\n %}", "the statement 'aaa");
  refused("{{ x | " + repeated("é", 100000) + "}}", "a name is missing before 'éé");
}

BOOST_AUTO_TEST_CASE(templates_are_bounded_in_depth_and_length) {
  refused("{{ " + std::string(100000, '(') + " }}", "nested deeper than 100 levels");
  refused("{{ " + repeated("not ", 100000) + "1 }}", "nested deeper than 100 levels");
  for (const char* const link : {" + 1", ".a", "[0]", " | trim", " and 1", " or 1", " == 1",
                                 " is none", " in 1", ".strip()"})
    refused("{{ 1" + repeated(link, 100000) + " }}", "more than 1000 signs and words");
  refused(repeated("{% if 1 %}", 100000), "nested deeper than 50 levels");
  refused(repeated("{% for m in messages %}", 100000), "nested deeper than 50 levels");
  BOOST_TEST(applied("{% if 0 %}" + repeated("{% elif 0 %}", 100000) + "{% endif %}").empty());
  BOOST_TEST(applied(repeated("{{ 1 }}", 100000)) == std::string(100000, '1'));
}

BOOST_AUTO_TEST_CASE(templates_are_bounded_in_time_and_memory) {
  std::string loops, ends;
  for (int i = 0; i < 40; ++i) {
    loops += "{% for m in messages %}";
    ends += "{% endfor %}";
  }
  refused(loops + ends, "it takes too many steps");
  refused(loops + "{{ 1 }}" + ends, "it takes too many steps");
  refused("{% set x = 'aaaaaaaa' %}" + repeated("{% set x = x + x %}", 60),
          "it takes too many steps");
  refused("{{ 0" + repeated(" + 999999999999999999", 12) + " }}", "a sum is too large");
  refused("{{ 0" + repeated(" + -999999999999999999", 12) + " }}", "a sum is too large");
  // A part that nearly fits at every place.
  const std::string half(100000, 'a');
  refused("{{ '" + half + "b' in '" + half + half + "' }}", "it takes too many steps");
  BOOST_TEST(applied("{{ 'b' + 'a' in 'aaba' }}{{ '' in '' }}{{ 'ab' in 'a' }}") ==
             "TrueTrueFalse");
  // The bounds grow with the messages.
  const std::vector<chat::message> long_talk{{"user", std::string(10'000'000, 'x')}};
  BOOST_TEST(chat_template("{% for m in messages %}{{ '<' + m.content | trim + '>' }}{{ '</think>' "
                           "in m.content }}{% endfor %}")
                 .apply(long_talk, true)
                 .size() == 10'000'007u);
}

BOOST_AUTO_TEST_CASE(merges_are_applied_by_rank_and_special_tokens_stand_for_themselves) {
  const auto pairs = reader_of(hello());
  const auto tokens = [&](std::string_view text) { return pairs.tokens(text); };
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
    const unsigned letters = 1 + random() % 8;
    for (int m = 0; m < 30; ++m) {
      // Half of the merges are of what earlier ones made.
      const auto any = [&] {
        return random() % 2 == 0 ? random() % letters : random() % pairs.size();
      };
      const std::size_t left = any(), right = any();
      if (pairs.piece(left).size() + pairs.piece(right).size() <= 40) pairs.merge(left, right);
    }
    const auto reader = reader_of(pairs.file());
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
  const auto merged = reader_of(pairs.file()).tokens(std::string(size, 'a'));
  BOOST_TEST(merged.size() == size / 16);
  auto v = with_special(hello(), {"<", "<|x|>"});
  for (const char* const words : {"gpt-2", "smollm", "llama-bpe", "qwen2"}) {
    v.words = words;
    const auto reader = reader_of(v);
    const auto count = [&](const std::string& text) {
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
  const auto reader =
      reader_of(with_special(hello(), {"<|e", "<|end|><", "é", "<|end|>", "\xff", "hell"}));
  BOOST_TEST((reader.tokens("<|e<|end|><|end|>é<|end") == ids{14, 15, 1, 6, 16, 14, 6}),
             "'|', 'n' and '>' are no tokens");
  BOOST_TEST((reader.tokens("hhello") == ids{0, 19, 3}), "before any merge");
}

BOOST_AUTO_TEST_CASE(tokens_without_text_or_twice_in_the_vocabulary_do_no_harm) {
  const auto reader = reader_of(with_special(hello(), {"", "<|end|>", "", "<|end|>"}));
  BOOST_TEST((reader.tokens("he<|end|>d") == ids{8, 13, 6}));
  BOOST_TEST(reader.bytes(14) == "");
  const auto only = reader_of(with_special({.pieces = {"a"}, .merges = {}}, {""}));
  BOOST_TEST((only.tokens("aba") == ids{0, 0}));
  vocabulary twice = hello();
  twice.pieces[12] = "he";
  BOOST_TEST((reader_of(twice).tokens("hello") == ids{10, 3}));
  twice.merges = {"l l", "h e", "h e", "he ll"};
  BOOST_TEST((reader_of(twice).tokens("hello") == ids{10, 3}));
}

BOOST_AUTO_TEST_CASE(incomplete_vocabularies_are_refused) {
  const auto says_of = [](auto change, std::string_view sentence) {
    vocabulary v = hello();
    change(v);
    const std::string said = thrown_by([&] { reader_of(v); });
    says(said, sentence);
    BOOST_TEST((said.starts_with("the tokenizer: ") && said.size() < 300), said);
    BOOST_TEST((said.find('\n') == said.npos), said);
  };
  const auto of_merge = [&](const std::string& merge, std::string_view sentence) {
    says_of([&](vocabulary& v) { v.merges[2] = merge; }, sentence);
  };
  for (const char* const line : {"", " ", "hell", "h ", " e", "h e l", "h  e"})
    of_merge(line, "merge 2, '" + std::string(line) + "', is not two tokens with a blank between");
  of_merge("h x", "merge 2, 'h x', needs the token 'x', which is not there");
  of_merge("x e", "needs the token 'x', which is not there");
  of_merge("h o", "needs the token 'ho', which is not there");
  of_merge("h " + std::string(100000, '\n'), "merge 2, 'h   ");
  says_of([](vocabulary& v) { v.types.pop_back(); }, "there are 14 tokens, and the types of 13");
  says_of([](vocabulary& v) { v.pieces.clear(); }, "there are 0 tokens, and the types of 14");
  says_of([](vocabulary& v) { v.words = "a\nb"; }, "split as by 'a b', which is not known");
  for (const std::int32_t end : {14, -1, std::numeric_limits<std::int32_t>::max()})
    says_of([&](vocabulary& v) { v.end = end; },
            "eos_token_id is " + std::to_string(end) + ", and there are 14 tokens");
  gguf_builder no_end(0, 5);
  no_end.text_value("tokenizer.ggml.model", "gpt2").text_value("tokenizer.ggml.pre", "gpt-2");
  no_end.texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {});
  no_end.integers("tokenizer.ggml.token_type", {1});
  refuses([&] { chat::byte_pairs(weft::gguf_file(no_end.bytes(), "x")); },
          "no token ends an answer: there is no tokenizer.ggml.eos_token_id");
}

// Without a token to go on from, the model would have no logits.
BOOST_AUTO_TEST_CASE(templates_that_make_no_token_of_a_message_are_refused) {
  const auto reader = reader_of(hello());
  const auto prompt = [&](const std::string& form, std::string_view done = "") {
    return chat::prompt_of(talk, done, chat_template(form), reader);
  };
  for (const char* const form : {"", "{# hello #}", "{{ missing }}", "?", "{% if 0 %}h{% endif %}"})
    refuses([&] { prompt(form); }, "the chat template makes no token of the message");
  refuses([&] { prompt("hello", "hello"); }, "makes no token");
  const auto next = prompt("hello hello", "hello");
  BOOST_TEST((next.goes_on && next.tokens == ids{11, 3} && next.whole == "hello hello"));
  const auto other = prompt("hello", "held");
  BOOST_TEST((!other.goes_on && other.tokens == ids{10, 3}));
}

// What is wrong with the file is said before its weights are looked for.
BOOST_AUTO_TEST_CASE(files_of_other_models_are_refused) {
  vocabulary v = hello();
  const auto conversation = [&](std::string_view architecture, std::string_view form) {
    gguf_builder b(0, 8);
    b.text_value("general.architecture", architecture).text_value("tokenizer.chat_template", form);
    const auto file = v.file();
    constexpr std::size_t header = 24;
    b.raw({reinterpret_cast<const char*>(file.bytes().data()) + header,
           file.bytes().size() - header});
    return thrown_by([&] { chat::conversation(weft::gguf_file(b.bytes(), "x"), {}, {}, ""); });
  };
  says(conversation("gpt\n2", ""), "x: the model's architecture is 'gpt 2'");
  says(conversation("llama", ""), "x: the vocabulary has 14 tokens, and the model has 49152");
  for (std::size_t t = v.pieces.size(); t < 49152; ++t) v.pieces.push_back(std::to_string(t));
  v.types.resize(v.pieces.size(), 1);
  BOOST_TEST(conversation("llama", "a\n{{ messages | tojson }}") ==
             "the chat template, line 2, column 15: the filter 'tojson' is not known");
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
  const std::vector<float> logits{1, 3, 2, -5};
  chat::sampler greedy({});
  BOOST_TEST(greedy(logits) == 1);
  const auto counts = [&](const chat::sampling& options) {
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

BOOST_AUTO_TEST_CASE(no_token_is_chosen_by_logits_that_are_not_finite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const double temperature : {0.0, 1.0})
    for (const auto& logits : std::vector<std::vector<float>>{
             {}, {1, std::numeric_limits<float>::quiet_NaN()}, {infinity, 1}, {-infinity}})
      refuses([&] { chat::sampler({.temperature = temperature})(logits); },
              "the model's logits are no finite numbers");
}

BOOST_AUTO_TEST_CASE(a_text_outlives_its_window_with_the_losses_of_each_window_recomputed) {
  weft::module<chat::windowed<one_layer, 5, 9, 4>, "losses"> net({.seed = 2});
  for (float& w : net.parameters().floats()) w *= 4;  // scores that depend on distances
  ids text;
  std::mt19937 random(1);
  for (int i = 0; i < 80; ++i) text.push_back(static_cast<std::int32_t>(random() % 13));
  const auto all = std::span<const std::int32_t>(text);
  for (const std::size_t sinks : {0u, 1u, 4u}) {
    const std::size_t window = 9 - sinks;
    const chat::seen what{static_cast<std::int32_t>(window), static_cast<std::int32_t>(sinks)};
    const auto streamed = chat::losses_of(net, all, what);
    BOOST_TEST_REQUIRE(streamed.size() == all.size() - 1);
    for (std::size_t i = 9; i < streamed.size(); ++i) {
      ids alone(text.begin(), text.begin() + what.sinks);
      const auto recent = all.subspan(i + 1 - window, window + 1);
      alone.insert(alone.end(), recent.begin(), recent.end());
      const float expected = chat::losses_of(net, alone, what).back();
      BOOST_TEST(std::abs(streamed[i] - expected) < 1e-4f, streamed[i] << " " << expected);
    }
  }
  const auto three = chat::recomputed_losses(net, all, 20, 3, 9);
  const chat::seen nine{9, 0};
  BOOST_TEST_REQUIRE(three.size() == 3u);
  BOOST_TEST(three[2] == chat::losses_of(net, all.subspan(14, 10), nine)[8]);
  BOOST_TEST(three[0] == chat::losses_of(net, all.subspan(14, 8), nine)[6]);
}

// The tokens are those that transformers 5.24 chooses in float32 from the same file, by its
// generate(do_sample=False).
BOOST_AUTO_TEST_CASE(the_published_weights_answer_as_in_transformers) {
  const std::filesystem::path file = CHAT_MODEL;
  if (!std::filesystem::exists(file)) {
    BOOST_TEST_MESSAGE("left out: " << file << " is not there; ./run chat fetches it");
    return;
  }
  using weft::precision;
  for (const auto& [window, as] : std::map<std::size_t, precision>{
           {0, precision::stored}, {1023, precision::stored}, {1024, precision::float32}}) {
    chat::conversation::weights how;
    how.precision = as;
    chat::conversation talk(weft::gguf_file(file), how, {}, "", window);
    std::string streamed;
    const auto stream = [&](std::string_view part) { streamed += part; };
    const std::string expected =
        "The answer to this question lies in the intricate dance of light and color. The sky "
        "appears "
        "blue because of a phenomenon known as Rayleigh scattering. This occurs when light "
        "encounters "
        "molecules of air, which scatter";
    BOOST_TEST(talk.answer("Why is the sky blue?", 40, stream) == expected);
    BOOST_TEST(streamed == expected);
    BOOST_TEST(talk.last().prompt == 36u);
    BOOST_TEST(talk.last().answer == 40u);
    BOOST_TEST(!talk.is_full());
  }
}

BOOST_AUTO_TEST_CASE(the_published_weights_give_the_same_bits_on_all_targets_of_a_family,
                     *boost::unit_test::label("full")) {
  const std::filesystem::path file = CHAT_MODEL;
  if (!std::filesystem::exists(file)) {
    BOOST_TEST_MESSAGE("left out: " << file << " is not there; ./run chat fetches it");
    return;
  }
  for (const auto precision : {weft::precision::float32, weft::precision::bfloat16,
                               weft::precision::q8_0, weft::precision::stored}) {
    std::map<weft::target_family, std::pair<std::string, std::uint64_t>> of_family;
    weft::kernels::on_every_target([&](const auto&) {
      chat::conversation::weights how;
      how.precision = precision;
      chat::conversation talk(weft::gguf_file(file), how, {}, "");
      const std::string text = talk.answer("Why is the sky blue?", 32, [](std::string_view) {});
      const auto logits = talk.logits();
      const std::uint64_t hash = weft::testing::hash_of({{logits.begin(), logits.end()}});
      const auto first = of_family.try_emplace(weft::family(), text, hash).first->second;
      BOOST_TEST(text == first.first);
      BOOST_TEST(hash == first.second);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
