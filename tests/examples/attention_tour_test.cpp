// Output of examples/attention_tour: the attention chapter's values, on the stream and on a page.
#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "attention_tour/tour.hpp"

namespace {

using rows = std::vector<std::vector<double>>;

// A run of the whole tour.
struct told {
  std::string printed;
  boost::property_tree::ptree body;

  told() {
    std::ostringstream out;
    std::istringstream html(attention_tour::run(out).html());
    printed = out.str();
    boost::property_tree::ptree page;
    boost::property_tree::read_xml(html, page);
    body = page.get_child("html.body");
  }

  // The values that are printed under a name, in a step of the tour.
  rows numbers(const std::string& step, const std::string& name) const {
    const auto begin = printed.find("\n" + step + "\n");
    BOOST_TEST_REQUIRE(begin != printed.npos, step);
    std::istringstream lines(printed.substr(begin + 1));
    std::string line;
    while (std::getline(lines, line) && line != name + ":") BOOST_TEST_REQUIRE(!line.empty(), name);
    rows all;
    while (std::getline(lines, line) && line.starts_with(" ")) {
      std::istringstream in(line);
      all.emplace_back();
      for (double x; in >> x;) all.back().push_back(x);
    }
    return all;
  }
};

const told& tour() {
  static const told whole;
  return whole;
}

// Compares within the rounding to the four digits that are printed.
void check(const rows& found, const rows& expected) {
  BOOST_TEST_REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r) {
    BOOST_TEST_REQUIRE(found[r].size() == expected[r].size());
    for (std::size_t c = 0; c < found[r].size(); ++c)
      BOOST_TEST(std::abs(found[r][c] - expected[r][c]) <= 0.5001e-4,
                 found[r][c] << " and not " << expected[r][c] << " at " << r << ", " << c);
  }
}

const std::string scores[]{"Scaled dot product", "Additive score", "Bilinear score",
                           "Gaussian score"};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_tour_of_the_chapter)

BOOST_AUTO_TEST_CASE(masked_softmax_gives_the_weights_that_the_chapter_prints) {
  const std::string step = "Masked softmax, a length for each sequence";
  check(tour().numbers(step, "sequence 0"), {{0.4639, 0.5361, 0, 0}, {0.3481, 0.6519, 0, 0}});
  check(tour().numbers(step, "sequence 1"),
        {{0.4261, 0.1981, 0.3759, 0}, {0.4635, 0.2937, 0.2428, 0}});
  const std::string each = "Masked softmax, a length for each query";
  check(tour().numbers(each, "sequence 0"), {{1, 0, 0, 0}, {0.29248205, 0.37135315, 0.3361648, 0}});
  check(tour().numbers(each, "sequence 1"),
        {{0.38551602, 0.61448395, 0, 0}, {0.17129263, 0.21547154, 0.25191936, 0.36131644}});
}

BOOST_AUTO_TEST_CASE(products_of_ones_equal_the_contracted_extent) {
  for (const std::string name : {"product 0", "product 1"})
    check(tour().numbers("Batch matrix product", name), rows(3, std::vector<double>(6, 4)));
}

BOOST_AUTO_TEST_CASE(equal_keys_share_the_weight_for_every_score_function) {
  std::vector<double> two(10), six(10);
  std::fill_n(two.begin(), 2, 0.5);
  std::fill_n(six.begin(), 6, 1.0 / 6);
  for (const std::string& score : scores) BOOST_TEST_CONTEXT(score) {
      check(tour().numbers(score, "weights, equal keys"), {two, six});
      check(tour().numbers(score, "output, equal keys"), {{2, 3, 4, 5}, {10, 11, 12, 13}});
    }
}

BOOST_AUTO_TEST_CASE(random_keys_have_different_weights_within_the_lengths) {
  for (const std::string& score : scores) BOOST_TEST_CONTEXT(score) {
      const rows weights = tour().numbers(score, "weights, random keys");
      const rows output = tour().numbers(score, "output, random keys");
      BOOST_TEST_REQUIRE(weights.size() == 2u);
      for (std::size_t sequence = 0; sequence < 2; ++sequence) {
        const std::size_t length = sequence == 0 ? 2 : 6;
        double sum = 0, mean = 0;
        for (std::size_t key = 0; key < 10; ++key) {
          const double w = weights[sequence].at(key);
          if (key >= length) BOOST_TEST(w == 0);
          sum += w;
          mean += w * 4 * static_cast<double>(key);  // the values' first column
        }
        BOOST_TEST(std::abs(sum - 1) <= 10 * 0.5e-4);
        BOOST_TEST(std::abs(mean - output[sequence].at(0)) <= 4 * 45 * 0.5e-4);
        BOOST_TEST(std::abs(weights[sequence][0] - weights[sequence][1]) > 1e-3);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_regression_is_the_mean_weighted_by_the_kernel) {
  const auto known = attention_tour::noisy_sample();
  rows expected(1);
  for (double x = 0; x < 5; ++x) {
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < known.x.size(); ++i) {
      const double w = std::exp(-(x - known.x[i]) * (x - known.x[i]) / 2);
      sum += w * known.y[i];
      weights += w;
    }
    expected[0].push_back(sum / weights);
  }
  check(tour().numbers("Nadaraya–Watson regression", "estimates"), expected);
}

BOOST_AUTO_TEST_CASE(heads_give_equal_keys_equal_weights) {
  const std::string step = "Multi-head attention";
  check(tour().numbers(step, "shape of the output"), {{2, 4, 100}});
  const double third = 1.0 / 3;
  check(tour().numbers(step, "weights of sequence 0, head 0"), rows(4, {third, third, third, 0}));
  check(tour().numbers(step, "weights of sequence 1, head 0"), rows(4, {0.5, 0.5, 0, 0}));
}

BOOST_AUTO_TEST_CASE(the_page_has_every_compiled_listing_and_every_picture) {
  std::string listings;
  std::size_t figures = 0, tables = 0;
  std::vector<std::string> headings;
  for (const auto& [tag, content] : tour().body) {
    if (tag == "h2") headings.push_back(content.data());
    if (tag == "pre") listings += content.get<std::string>("code");
    tables += tag == "table";
    if (tag != "figure") continue;
    ++figures;
    const auto source = content.get<std::string>("img.<xmlattr>.src");
    // The signature of a PNG file, and the minimum size of a picture.
    BOOST_TEST(source.starts_with("data:image/png;base64,iVBORw0KGgo"));
    BOOST_TEST(source.size() > 500u);
  }
  BOOST_TEST(headings.size() == 10u);
  for (const std::string& h : headings)
    BOOST_TEST(tour().printed.find("\n" + h + "\n") != std::string::npos);
  BOOST_TEST(figures == 2 + 2 + 4 * 2 + 2 + 3u);
  BOOST_TEST(tables == 2 + 2 + 2 + 4 * 4 + 1 + 3u);
  for (const std::string model : {"additive", "batch_product", "bilinear", "dot_product",
                                  "gaussian", "masked_softmax", "multi_head", "regression", "toy"})
    BOOST_TEST_CONTEXT(model) {
      std::ifstream file(ATTENTION_TOUR_MODELS "/" + model + ".hpp");
      const std::string code(std::istreambuf_iterator<char>(file), {});
      const std::string guard = "#pragma once\n\n";
      BOOST_TEST_REQUIRE(code.starts_with(guard));
      BOOST_TEST(listings.find(code.substr(guard.size())) != listings.npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()
