// Samples, training and report of examples/positions.
#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "positions/own.hpp"
#include "positions/pictures.hpp"
#include "positions/report.hpp"
#include "positions/study.hpp"
#include "positions/task.hpp"
#include "support/temporary.hpp"

namespace {

using namespace positions;

// "a" for training, "b" held out: an excerpt shows which part it is from.
examples::corpus some_text() {
  examples::corpus text;
  text.bytes.assign(900, 'a');
  text.bytes.insert(text.bytes.end(), 200, 'b');
  text.train_size = 900;
  return text;
}

template <class Named>
Named named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  BOOST_TEST_REQUIRE((found != all.end()), name);
  return *found;
}

task task_named(std::string_view name) {
  return named(tasks(some_text()), name);
}

settings short_study(std::initializer_list<std::string_view> encodings, long steps) {
  settings s;
  s.tasks = {task_named("back")};
  s.steps = steps;
  for (const auto name : encodings) s.contestants.push_back(named(contestants(), name));
  return s;
}

outcomes run(const settings& s) {
  return run_study(s, [](long, float) {});
}

// Calls check(digits, answer), both without their ends, for many samples of sizes from 0 on.
template <class Check>
void for_digits(sample (*draw)(std::size_t, random_engine&), const Check& check) {
  random_engine random(1);
  for (int i = 0; i < 200; ++i) {
    const std::size_t size = static_cast<std::size_t>(i) % 33;
    const sample s = draw(size, random);
    BOOST_TEST_REQUIRE(s.text.size() == size + 2);
    BOOST_TEST_REQUIRE(s.answer.size() == size + 2);
    BOOST_TEST((s.text.front() == '<' && s.text.back() == '>'));
    BOOST_TEST((s.answer.front() == '\0' && s.answer.back() == '\0'));
    const std::string digits = s.text.substr(1, size);
    BOOST_TEST((digits.find_first_not_of("0123456789") == digits.npos));
    check(digits, s.answer.substr(1, size));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(positions_study)

BOOST_AUTO_TEST_CASE(answers_of_reversed_are_the_digits_backwards) {
  for_digits(reversed, [](const std::string& digits, const std::string& answer) {
    for (std::size_t i = 0; i < digits.size(); ++i)
      BOOST_TEST(answer[i] == digits[digits.size() - 1 - i]);
  });
}

BOOST_AUTO_TEST_CASE(answers_of_sorted_are_the_digits_in_order) {
  for_digits(sorted, [](const std::string& digits, const std::string& answer) {
    BOOST_TEST(std::is_sorted(answer.begin(), answer.end()));
    BOOST_TEST(std::is_permutation(answer.begin(), answer.end(), digits.begin(), digits.end()));
  });
}

BOOST_AUTO_TEST_CASE(answers_of_back_are_the_digits_three_positions_before) {
  for_digits(back, [](const std::string& digits, const std::string& answer) {
    for (std::size_t i = 0; i < digits.size(); ++i)
      BOOST_TEST(answer[i] == (i < 3 ? '\0' : digits[i - 3]));
  });
}

BOOST_AUTO_TEST_CASE(a_sum_is_answered_at_the_positions_of_the_second_number) {
  random_engine random(1);
  std::set<char> carries;
  for (int i = 0; i < 200; ++i) {
    const std::size_t size = static_cast<std::size_t>(i) % 9, digits = size + 1;
    const sample s = added(size, random);
    BOOST_TEST_REQUIRE(s.text.size() == 2 * digits + 1);
    BOOST_TEST_REQUIRE(s.answer.size() == s.text.size());
    BOOST_TEST(s.text[digits] == '+');
    BOOST_TEST(s.answer.substr(0, digits + 1) == std::string(digits + 1, '\0'));
    const long a = std::stol(s.text.substr(0, digits)), b = std::stol(s.text.substr(digits + 1));
    BOOST_TEST(std::stol(s.answer.substr(digits + 1)) == a + b, s.text);
    carries.insert(s.answer[digits + 1]);
  }
  BOOST_TEST((carries == std::set{'0', '1'}));
}

BOOST_AUTO_TEST_CASE(text_samples_predict_the_next_characters_of_one_part) {
  examples::corpus text;
  for (int i = 0; i < 400; ++i) text.bytes.push_back(i % 251);
  text.train_size = 250;
  const task t = named(tasks(text), "text");
  random_engine random(1);
  for (int i = 0; i < 100; ++i)
    for (const part from : {part::train, part::held_out}) {
      const sample s = t.draw(t.most, from, random);
      BOOST_TEST_REQUIRE(s.text.size() == t.most);
      BOOST_TEST(s.text.substr(1) == s.answer.substr(0, t.most - 1));
      const int size = static_cast<int>(t.most);
      const int first = static_cast<unsigned char>(s.text.front());
      const int last = static_cast<unsigned char>(s.answer.back());
      BOOST_TEST(last == (first + size) % 251);
      // The part that is held out begins with 250, 0, 1, ...
      BOOST_TEST((from == part::train ? first + size < 250 : first == 250 || first + size < 149));
    }
}

BOOST_AUTO_TEST_CASE(a_batch_holds_tokens_targets_and_visible_lengths) {
  const std::vector<sample> samples{{"abc", std::string("\0xy", 3)}, {"\xff!?", "123"}};
  for (const bool causal : {false, true}) {
    const batch b(samples, causal);
    BOOST_TEST(b.tokens(0, 2) == 'c');
    BOOST_TEST(b.tokens(1, 0) == 255);
    BOOST_TEST(b.targets(0, 0) == 0);
    BOOST_TEST(b.targets(1, 2) == '3');
    for (std::size_t p = 0; p < 3; ++p)
      BOOST_TEST(b.visible(p) == (causal ? static_cast<int>(p) + 1 : 3));
  }
}

BOOST_AUTO_TEST_CASE(training_batches_have_all_sizes_from_the_least_to_the_most) {
  random_engine random(1);
  for (const task& t : tasks(some_text())) BOOST_TEST_CONTEXT(t.name) {
      std::set<std::size_t> lengths;
      for (int i = 0; i < 200; ++i) lengths.insert(draw_to_learn(t, random).tokens.length<Pos>());
      BOOST_TEST(lengths.size() == t.most - t.least + 1);
      const batch b = draw_to_measure(t, 2 * t.most, random);
      BOOST_TEST(b.tokens.length<Batch>() == t.samples);
      BOOST_TEST((b.tokens.length<Pos>() > *lengths.rbegin()));
    }
}

BOOST_AUTO_TEST_CASE(models_are_initialized_alike_except_for_the_encoding) {
  random_engine random(1);
  const batch b = draw_to_measure(task_named("back"), 9, random);
  const auto loss = [&](std::string_view name, std::uint64_t seed) {
    return named(contestants(), name).begin(1, seed)->measured(b).loss;
  };
  // A gain of 1 is ALiBi without parameters.
  BOOST_TEST(loss("learned-alibi", 3) == loss("alibi", 3));
  BOOST_TEST(std::abs(loss("learned-rotary", 3) - loss("rotary", 3)) < 1e-5);
  BOOST_TEST(loss("none", 3) != loss("alibi", 3));
  BOOST_TEST(loss("none", 3) != loss("none", 4));
}

BOOST_AUTO_TEST_CASE(rotary_learns_to_look_three_positions_back_and_no_encoding_does_not) {
  const auto found = run(short_study({"rotary", "none"}, 150));
  BOOST_TEST(found[0][0].at_length > 0.6);
  BOOST_TEST(found[1][0].at_length < 0.3);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_does_not_change_results) {
  settings s = short_study({"t5", "none", "learned"}, 3);
  const auto one = run(s);
  s.threads = 2;
  long told = 0;
  const auto two = run_study(s, [&](long done, float) { BOOST_TEST(done == ++told); });
  BOOST_TEST(told == 9);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(one[i][0].at_length == two[i][0].at_length);
    BOOST_TEST(one[i][0].at_twice == two[i][0].at_twice);
    BOOST_TEST(one[i][0].added->numbers() == two[i][0].added->numbers());
  }
}

BOOST_AUTO_TEST_CASE(the_added_encoding_matches_its_formula) {
  const auto at_first = [](std::string_view name) {
    return named(contestants(), name).begin(1, 1)->added(20);
  };
  const weft::grid rotary = at_first("rotary");
  for (const double x : rotary.numbers()) BOOST_TEST(x == 0);
  const weft::grid index = at_first("index"), sines = at_first("sinusoidal");
  for (std::size_t p = 0; p < 20; ++p)
    for (std::size_t j = 0; j < 2; ++j) {  // recovered as a difference
      const auto t = static_cast<double>(p);
      BOOST_TEST(std::abs(index(p, j) - t) < 1e-5);
      BOOST_TEST(std::abs(sines(p, j) - (j == 0 ? std::sin(t) : std::cos(t))) < 1e-5);
    }
}

namespace own {

struct Pos : weft::axis<3> {};
struct KeyPos : weft::alias<Pos> {};
struct Heads : weft::axis<2> {};

struct scores {
  constexpr auto operator()(weft::scope s) const {
    const auto where =
        weft::nn::positions_in_attention<Pos, KeyPos>(weft::positions<Pos>(), {.scale = 1});
    const auto bias = kerple().scores<weft::shape<Heads>, void>(s, 0, where);
    return weft::broadcast<KeyPos, Pos, Heads>(bias);
  }
};

}  // namespace own

BOOST_AUTO_TEST_CASE(a_user_defined_encoding_matches_its_formula) {
  weft::module<own::scores> net;
  const float log_r1[]{0.5f, -1}, log_r2[]{-0.25f, 2};
  std::ranges::copy(log_r1, net.parameters().find("log_r1").values.begin());
  std::ranges::copy(log_r2, net.parameters().find("log_r2").values.begin());
  const auto found = net();
  for (int i = 0; i < 3; ++i)
    for (int h = 0; h < 2; ++h)
      for (int j = 0; j < 3; ++j) {
        const double r1 = std::exp(log_r1[h]), r2 = std::exp(log_r2[h]);
        const double expected = -r1 * std::log(1 + r2 * std::abs(i - j));
        BOOST_TEST(std::abs(static_cast<double>(found(j, i, h)) - expected) < 1e-5);
      }
}

BOOST_AUTO_TEST_CASE(the_table_has_a_row_for_each_encoding) {
  settings s = short_study({"none", "kerple"}, 1);
  s.tasks.push_back(task_named("text"));
  const outcomes found{{{0.25, 0.125, 1e-3, {}}, {3, 4, 2e-3, {}}},
                       {{1, 0.5, 1e-3, {}}, {2, 2.5, 1e-3, {}}}};
  const table t(s, found);
  BOOST_TEST(t.tsv() ==
             "encoding\tback 16\tback 32\ttext 64\ttext 128\tparameters\tus/step\n"
             "none\t0.250\t0.125\t3.000\t4.000\t" +
                 std::to_string(s.contestants[0].parameters) +
                 "\t1500\n"
                 "kerple\t1.000\t0.500\t2.000\t2.500\t" +
                 std::to_string(s.contestants[0].parameters + 16) + "\t1000\n");
  std::istringstream lines(t.text());
  std::set<std::size_t> lengths;
  for (std::string line; std::getline(lines, line);) lengths.insert(line.size());
  BOOST_TEST(lengths.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_page_holds_the_table_and_the_pictures) {
  const weft::testing::temporary made("weft_positions_test");
  const std::filesystem::path& folder = made;
  std::filesystem::create_directory(folder);
  const settings s = short_study({"none", "index/length", "learned"}, 1);
  const auto page = write_page(s, run(s), folder.string());
  std::istringstream html(page.html());
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(html, tree);
  std::size_t tables = 0, figures = 0;
  for (const auto& [tag, element] : tree.get_child("html.body")) {
    tables += tag == "table";
    figures += tag == "figure";
    if (tag == "div")
      for (const auto& [inner, figure] : element) figures += inner == "figure";
  }
  BOOST_TEST(tables == 2u);
  // Four of formulas; none for `none`, which adds nothing; for index/length, what it adds and its
  // cosines; for learned, what it adds before and after training and its cosines.
  BOOST_TEST(figures == 9u);
  const std::size_t files =
      static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  BOOST_TEST(files == 9u);
}

BOOST_AUTO_TEST_SUITE_END()
