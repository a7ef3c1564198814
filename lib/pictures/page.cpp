#include "weft/pictures/page.hpp"

#include <algorithm>
#include <array>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <cmath>
#include <cstdio>

#include "file.hpp"
#include "text.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

constexpr std::string_view style = R"(
body { max-width: 52rem; margin: 2.5rem auto; padding: 0 1rem; color: #222; background: #fff;
  font: 1rem/1.55 system-ui, sans-serif; }
h1, h2 { line-height: 1.25; font-weight: 600; }
h1 { font-size: 1.75rem; margin: 0 0 1.5rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 0.75rem; padding-top: 1rem;
  border-top: 1px solid #ddd; }
pre { padding: 0.75rem 1rem; overflow-x: auto; background: #f6f6f4; border-left: 3px solid #ccc;
  font: 0.84rem/1.5 ui-monospace, monospace; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0;
  font-size: 0.875rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: 0.15rem 0.6rem; text-align: right; }
th { font-weight: 600; color: #666; }
thead th { border-bottom: 1px solid #ccc; }
figure { display: inline-block; max-width: 100%; margin: 0.5rem 1.5rem 0.5rem 0;
  vertical-align: top; }
img { display: block; max-width: 100%; height: auto; }
figcaption { color: #666; font-size: 0.875rem; }
)";

std::string escape(std::string_view text) {
  std::string result;
  for (const code_point& c : code_points(text)) {
    if (c.bytes == "&")
      result += "&amp;";
    else if (c.bytes == "<")
      result += "&lt;";
    else if (c.bytes == ">")
      result += "&gt;";
    else if (c.bytes == "\"")
      result += "&quot;";
    else if (c.printable || c.bytes == "\n" || c.bytes == "\t")
      result += c.bytes;
    else
      result += "\uFFFD";
  }
  return result;
}

std::string element(const std::string& tag, std::string_view text) {
  return "<" + tag + ">" + escape(text) + "</" + tag + ">\n";
}

std::string base64(std::string bytes) {
  namespace to = boost::archive::iterators;
  using digits = to::base64_from_binary<to::transform_width<std::string::const_iterator, 6, 8>>;
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  bytes.append(padding, '\0');
  std::string text(digits(bytes.cbegin()), digits(bytes.cend()));
  text.replace(text.size() - padding, padding, padding, '=');
  return text;
}

std::string number(double x, int decimals) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, x);
  return text.data();
}

void check(const char* of, std::size_t are, std::size_t needed) {
  if (are != 0 && are != needed)
    detail::raise("table: " + std::to_string(are) + " headings for " + std::to_string(needed) +
                  " " + of);
}

}  // namespace

page::page(std::string_view title, std::string_view language) : title_(title), language_(language) {
  body_ = element("h1", title);
}

page& page::heading(std::string_view text) {
  body_ += element("h2", text);
  return *this;
}

page& page::paragraph(std::string_view text) {
  body_ += element("p", text);
  return *this;
}

page& page::listing(std::string_view code) {
  body_ += "<pre><code>" + escape(code) + "</code></pre>\n";
  return *this;
}

page& page::table(const grid& numbers, const table_headings& headings) {
  const auto& [columns, rows] = headings;
  check("columns", columns.size(), numbers.columns());
  check("rows", rows.size(), numbers.rows());
  const bool whole = std::all_of(numbers.numbers().begin(), numbers.numbers().end(),
                                 [](double x) { return std::trunc(x) == x; });
  body_ += "<table>\n";
  if (!columns.empty()) {
    body_ += rows.empty() ? "<thead><tr>" : "<thead><tr><td></td>";
    for (const std::string& c : columns) body_ += "<th>" + escape(c) + "</th>";
    body_ += "</tr></thead>\n";
  }
  body_ += "<tbody>\n";
  for (std::size_t r = 0; r < numbers.rows(); ++r) {
    body_ += "<tr>";
    if (!rows.empty()) body_ += "<th>" + escape(rows[r]) + "</th>";
    for (std::size_t c = 0; c < numbers.columns(); ++c)
      body_ += "<td>" + number(numbers(r, c), whole ? 0 : 4) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table>\n";
  return *this;
}

page& page::figure(const picture& shown, std::string_view caption) {
  body_ += "<figure><img width=\"" + std::to_string(shown.width / shown.scale) + "\" height=\"" +
           std::to_string(shown.height / shown.scale) + "\" alt=\"" + escape(caption) +
           "\" src=\"data:image/png;base64," + base64(shown.png) + "\"/>" +
           element("figcaption", caption) + "</figure>\n";
  return *this;
}

std::string page::html() const {
  return "<!DOCTYPE html>\n<html lang=\"" + escape(language_) +
         "\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n" +
         element("title", title_) + "<style>" + std::string(style) + "</style>\n</head>\n<body>\n" +
         body_ + "</body>\n</html>\n";
}

void page::save(const std::string& file) const {
  write_file(file, html());
}

}  // namespace weft
