#include "weft/pictures/page.hpp"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "weft/pictures/heat_map.hpp"
#include "weft/run/error.hpp"

namespace weft {
namespace {

using tree = boost::property_tree::ptree;

// Pages are also well-formed XML, so that a strict parser reads them.
tree parse(const page& p) {
  std::istringstream in(p.html());
  tree t;
  boost::property_tree::read_xml(in, t);
  return t.get_child("html");
}

// Decodes bit by bit, as in RFC 4648, section 4.
std::string from_base64(std::string_view text) {
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  BOOST_TEST(text.size() % 4 == 0u);
  std::string bytes;
  unsigned held = 0, bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    BOOST_TEST_REQUIRE(digits.find(c) != digits.npos);
    held = held << 6 | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(held >> (bits -= 8) & 0xff));
  }
  return bytes;
}

std::vector<std::string> cells(const tree& row) {
  std::vector<std::string> all;
  for (const auto& [tag, cell] : row) all.push_back(tag + ":" + cell.data());
  return all;
}

using words = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(html_pages)

BOOST_AUTO_TEST_CASE(texts_are_escaped_and_parse_back_unchanged) {
  const std::string text = "a < b && c > \"d\" 'e' </p><script>x</script> &amp; é中 ]]>";
  const std::string code = "  if (a < b)\n\treturn &c;\n";
  const tree t = parse(page(text, "tr").heading(text).paragraph(text).listing(code));
  BOOST_TEST(t.get<std::string>("head.title") == text);
  BOOST_TEST(t.get<std::string>("<xmlattr>.lang") == "tr");
  BOOST_TEST(t.get<std::string>("body.h1") == text);
  BOOST_TEST(t.get<std::string>("body.h2") == text);
  BOOST_TEST(t.get<std::string>("body.p") == text);
  BOOST_TEST(t.get<std::string>("body.pre.code") == code);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_and_control_characters_are_replaced) {
  const std::string wrong("a\xff\0\x1b\n\t", 6);
  BOOST_TEST(parse(page("").paragraph(wrong)).get<std::string>("body.p") ==
             "a\uFFFD\uFFFD\uFFFD\n\t");
}

BOOST_AUTO_TEST_CASE(a_table_has_its_values_and_headings_in_order) {
  const auto each = boost::test_tools::per_element();
  const tree t = parse(page("").table(grid({0.5, 1, -2.00004, 1e9}, 2, 2),
                                      {.columns = {"a<", "b"}, .rows = {"x", "y"}}));
  BOOST_TEST(cells(t.get_child("body.table.thead.tr")) == (words{"td:", "th:a<", "th:b"}), each);
  words rows;
  for (const auto& [tag, row] : t.get_child("body.table.tbody"))
    for (const std::string& c : cells(row)) rows.push_back(c);
  BOOST_TEST(
      rows == (words{"th:x", "td:0.5000", "td:1.0000", "th:y", "td:-2.0000", "td:1000000000.0000"}),
      each);
}

BOOST_AUTO_TEST_CASE(integers_have_no_fraction_and_headings_may_be_missing) {
  const tree t = parse(page("").table(grid({1, 2, -30}, 1, 3)));
  BOOST_TEST(t.get_child("body.table").count("thead") == 0u);
  BOOST_TEST(cells(t.get_child("body.table.tbody.tr")) == (words{"td:1", "td:2", "td:-30"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_figure_embeds_its_picture) {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 4u, 200u}) {
    picture shown{.width = 60, .height = 40, .scale = 2};
    for (std::size_t i = 0; i < size; ++i) shown.png.push_back(static_cast<char>(i * 37));
    const tree figure = parse(page("").figure(shown, "<\"caption\">")).get_child("body.figure");
    BOOST_TEST(figure.get<std::string>("figcaption") == "<\"caption\">");
    BOOST_TEST(figure.get<std::string>("img.<xmlattr>.alt") == "<\"caption\">");
    BOOST_TEST(figure.get<std::string>("img.<xmlattr>.width") == "30");
    BOOST_TEST(figure.get<std::string>("img.<xmlattr>.height") == "20");
    const std::string source = figure.get<std::string>("img.<xmlattr>.src");
    const std::string head = "data:image/png;base64,";
    BOOST_TEST_REQUIRE(source.starts_with(head));
    BOOST_TEST(from_base64(source.substr(head.size())) == shown.png);
  }
}

BOOST_AUTO_TEST_CASE(a_page_needs_no_other_file) {
  const std::string html = page("title").figure(heat_map(grid({1, 2}, 1, 2)), "a picture").html();
  BOOST_TEST(html.starts_with("<!DOCTYPE html>\n"));
  for (const char* const reference : {"http", "href", "url(", "@import", "<script", "<link"})
    BOOST_TEST(html.find(reference) == html.npos, reference);
}

BOOST_AUTO_TEST_CASE(wrong_headings_and_unwritable_paths_are_errors) {
  page p("");
  BOOST_CHECK_THROW(p.table(grid({1, 2}, 1, 2), {.columns = {"one"}}), error);
  BOOST_CHECK_THROW(p.table(grid({1, 2}, 1, 2), {.rows = {"one", "two"}}), error);
  BOOST_CHECK_THROW(p.save("/no/such/folder/x.html"), error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace weft
