// The corpus of examples/dates: its texts denote their days, and a tenth of the days is held out.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <weft/run/error.hpp>

#include "dates/corpus.hpp"

namespace {

using namespace dates;

// How names of months begin, ASCII in lower case.
constexpr std::pair<std::string_view, unsigned> month_stems[] = {
    {"jan", 1},  {"gen", 1},  {"ene", 1},  {"oca", 1},  {"feb", 2},  {"fev", 2},  {"fév", 2},
    {"Şub", 2},  {"mar", 3},  {"mär", 3},  {"mrt", 3},  {"maa", 3},  {"apr", 4},  {"abr", 4},
    {"avr", 4},  {"nis", 4},  {"mai", 5},  {"may", 5},  {"mag", 5},  {"maj", 5},  {"mei", 5},
    {"jun", 6},  {"juin", 6}, {"giu", 6},  {"haz", 6},  {"jul", 7},  {"juil", 7}, {"lug", 7},
    {"tem", 7},  {"aug", 8},  {"ago", 8},  {"aoû", 8},  {"ağu", 8},  {"sep", 9},  {"set", 9},
    {"eyl", 9},  {"oct", 10}, {"okt", 10}, {"ott", 10}, {"out", 10}, {"eki", 10}, {"nov", 11},
    {"kas", 11}, {"dec", 12}, {"dez", 12}, {"dic", 12}, {"déc", 12}, {"ara", 12}};

unsigned month_of(std::string_view word) {
  for (const auto& [stem, month] : month_stems)
    if (word.starts_with(stem)) return month;
  return 0;
}

// A rule-based parser of dates, independent of languages and patterns: three numbers are day,
// month, year, or year, month, day if the first has four digits. Of two, the one with four digits
// is the year, or else the last; the month is the last word that begins as a month does.
date read(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) > 127;
  };
  std::vector<std::string> numbers;
  unsigned month = 0;
  while (!text.empty()) {
    const bool digit = is_digit(text.front());
    if (!digit && !is_letter(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const auto end = digit ? std::ranges::find_if_not(text, is_digit)
                           : std::ranges::find_if_not(text, is_letter);
    std::string word(text.begin(), end);
    text.remove_prefix(word.size());
    if (digit) {
      numbers.push_back(word);
      continue;
    }
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (const unsigned m = month_of(word)) month = m;
  }
  if (numbers.front().size() == 4) std::ranges::reverse(numbers);
  if (numbers.size() == 3) month = static_cast<unsigned>(std::stoul(numbers[1]));
  int year = std::stoi(numbers.back());
  if (numbers.back().size() == 2) year += year < 50 ? 2000 : 1900;
  return std::chrono::year(year) / static_cast<int>(month) / std::stoi(numbers.front());
}

const locale& language(std::string_view name) {
  return *std::ranges::find(locales(), name, &locale::name);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(examples_dates)

BOOST_AUTO_TEST_CASE(dates_are_written_in_the_forms_of_each_language) {
  const auto text = [](int year, unsigned month, unsigned day, std::string_view name,
                       std::string_view pattern) {
    return write(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day),
                 language(name), pattern);
  };
  BOOST_TEST(text(1998, 3, 3, "en-GB", "o 'of' MMMM y") == "3rd of March 1998");
  BOOST_TEST(text(2021, 10, 12, "en-GB", "EEE d MMM y") == "Tue 12 Oct 2021");
  BOOST_TEST(text(1967, 11, 5, "en-GB", "dd/MM/yy") == "05/11/67");
  BOOST_TEST(text(2008, 2, 29, "en-US", "MMM d ''yy") == "Feb 29 '08");
  BOOST_TEST(text(2021, 10, 12, "de", "EEE, d. MMM y") == "Di., 12. Okt. 2021");
  BOOST_TEST(text(2004, 8, 1, "fr", "EEEE o MMMM y") == "dimanche 1er août 2004");
  BOOST_TEST(text(2004, 8, 21, "fr", "o MMMM y") == "21 août 2004");
  BOOST_TEST(text(1998, 9, 23, "pt", "EEEE, d 'de' MMMM 'de' y") ==
             "quarta-feira, 23 de setembro de 1998");
  BOOST_TEST(text(1976, 8, 9, "tr", "d MMMM y EEEE") == "9 Ağustos 1976 Pazartesi");
  BOOST_TEST(iso(std::chrono::year(2001) / 2 / 3) == "2001-02-03");
  std::string endings;
  for (unsigned day = 1; day <= 31; ++day) endings += language("en-US").ordinal(day).substr(0, 1);
  BOOST_TEST(endings == "snr" + std::string(17, 't') + "snr" + std::string(7, 't') + "s");
}

// Every eleventh day of the century: each day of each month is among them.
BOOST_AUTO_TEST_CASE(every_form_denotes_its_day) {
  std::size_t wrong = 0;
  for (auto day = first_day; day <= last_day; day += std::chrono::days(11))
    for (const locale& l : locales())
      for (const auto pattern : l.patterns) {
        const std::string text = write(day, l, pattern);
        if (read(text) == date(day)) continue;
        if (++wrong < 10) BOOST_TEST_MESSAGE(text << " is not " << iso(day));
      }
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(weekdays_follow_one_another) {
  std::size_t days = 0, wrong = 0;  // since a Sunday
  for (auto day = first_day; day <= last_day; day += std::chrono::days(1), ++days)
    for (const locale& l : locales())
      wrong += write(day, l, "EEEE") != l.weekdays[days % 7] ||
               write(day, l, "EEE") != l.short_weekdays[days % 7];
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(every_form_can_be_encoded) {
  std::size_t wrong = 0;
  for (auto day = last_day - std::chrono::days(7 * 366); day <= last_day;
       day += std::chrono::days(1))
    for (const locale& l : locales())
      for (const auto pattern : l.patterns) {
        const auto places = encode(write(day, l, pattern));
        wrong += places.empty() || places.size() > Pos::extent;
      }
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(characters_are_encoded_as_indices_into_the_alphabet) {
  const auto places = encode("1 ağu");
  BOOST_TEST_REQUIRE(places.size() == 5u);
  std::u32string back;
  for (const std::int32_t p : places) back += alphabet[static_cast<std::size_t>(p)];
  BOOST_TEST((back == U"1 ağu"));
  BOOST_TEST(encode("").empty());
  BOOST_CHECK_EXCEPTION(encode("3 März ½"), weft::error, [](const weft::error& e) {
    return std::string_view(e.what()).find("½") != std::string_view::npos;
  });
  BOOST_CHECK_THROW(encode("M\xe4rz"), weft::error);  // Latin-1
}

BOOST_AUTO_TEST_CASE(a_tenth_of_the_days_is_held_out) {
  random_engine one(1), two(2);
  const split days(one), others(two);
  BOOST_TEST(days.held_out.size() == 3652u);
  std::set<date> all(days.train.begin(), days.train.end());
  all.insert(days.held_out.begin(), days.held_out.end());
  BOOST_TEST(all.size() == 36525u);
  BOOST_TEST(days.train.size() + days.held_out.size() == all.size());
  BOOST_TEST((days.held_out != others.held_out));
}

// Languages are drawn equally often, and so are the patterns of each, within 5 standard deviations.
BOOST_AUTO_TEST_CASE(forms_are_drawn_evenly) {
  random_engine random(1);
  constexpr int draws = 100000;
  const date day = std::chrono::year(1987) / 12 / 24;
  std::map<std::string, int> counted;
  for (int i = 0; i < draws; ++i) ++counted[write_somehow(day, random).text];
  std::map<std::string, double> expected;
  for (const locale& l : locales())
    for (const auto pattern : l.patterns)
      expected[write(day, l, pattern)] +=
          1.0 / static_cast<double>(locales().size() * l.patterns.size());
  BOOST_TEST(counted.size() == expected.size());
  for (const auto& [text, p] : expected)
    BOOST_TEST(std::abs(counted[text] - draws * p) < 5 * std::sqrt(draws * p * (1 - p)), text);
}

BOOST_AUTO_TEST_CASE(a_batch_is_padded_to_its_longest_text) {
  const sample samples[] = {{std::chrono::year(1967) / 11 / 5, "05/11/67"},
                            {std::chrono::year(2004) / 8 / 1, "1er août 2004"}};
  const batch b(samples);
  BOOST_TEST(b.text.length<Pos>() == 13u);
  BOOST_TEST(b.valid(0) == 8);
  BOOST_TEST(b.valid(1) == 13);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto places = encode(samples[i].text);
    for (std::size_t p = 0; p < places.size(); ++p) BOOST_TEST(b.text(i, p) == places[p]);
    for (std::size_t s = 0; s < Step::extent; ++s)
      BOOST_TEST(symbols[static_cast<std::size_t>(b.date(i, s))] == iso(samples[i].day)[s]);
  }
  const std::string texts[] = {"3 March 1998"};
  for (const std::int32_t symbol : batch(texts).date) BOOST_TEST(symbol == -1);
  const std::string empty[] = {""}, longer[] = {std::string(Pos::extent + 1, '1')};
  BOOST_CHECK_THROW((batch(empty)), weft::error);
  BOOST_CHECK_THROW((batch(longer)), weft::error);
}

BOOST_AUTO_TEST_CASE(a_reader_batches_texts_of_similar_length) {
  random_engine random(1);
  reader batches(split(random).train, 32, random);
  std::size_t cells = 0, characters = 0;
  std::set<std::size_t> lengths;
  for (int i = 0; i < 64; ++i) {
    const batch b = batches.next();
    BOOST_TEST(b.valid.size() == 32u);
    cells += b.text.size();
    for (const std::int32_t v : b.valid) characters += static_cast<std::size_t>(v);
    lengths.insert(b.text.length<Pos>());
  }
  BOOST_TEST(static_cast<double>(cells) < 1.2 * static_cast<double>(characters));
  BOOST_TEST(lengths.size() > 8u);
}

BOOST_AUTO_TEST_SUITE_END()
