#include "chat_template.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "expressions.hpp"

namespace chat {

using jinja::expression;
using jinja::fail;
using jinja::list;
using jinja::object;
using jinja::parser;
using jinja::value;
using jinja::variables;
using statement = std::function<void(variables&, std::string&)>;

// Statements that are executed one after another.
struct chat_template::block {
  std::vector<statement> all;

  void run(variables& v, std::string& out) const {
    for (auto const& s : all) s(v, out);
  }
};

namespace {

using block = chat_template::block;

// A tag, {{ ... }} or {% ... %}, or the text between two.
struct piece {
  enum { text, output, statement } kind;
  std::string content;
};

std::vector<piece> pieces_of(std::string_view text) {
  std::vector<piece> all;
  bool trim_next = false, at_line_begin = true;
  auto const add_text = [&](std::string_view t, bool trim_end) {
    std::string s(t);
    if (trim_next) s.erase(0, std::min(s.find_first_not_of(" \t\r\n"), s.size()));
    if (trim_end) s.erase(s.find_last_not_of(" \t\r\n") + 1);
    if (!s.empty()) all.push_back({piece::text, s});
  };
  for (;;) {
    std::size_t at = text.find('{');
    while (at != text.npos &&
           (at + 1 == text.size() || std::string_view("{%#").find(text[at + 1]) == text.npos))
      at = text.find('{', at + 1);
    if (at == text.npos) break;
    char const kind = text[at + 1];
    std::string_view const close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    // The end is not looked for inside of a quoted text.
    std::size_t end = at + 2;
    for (char quote = 0; end < text.size(); ++end) {
      if (quote == 0 && text.substr(end).starts_with(close)) break;
      if (kind == '#') continue;
      if (quote != 0 && text[end] == '\\')
        ++end;
      else if (quote != 0)
        quote = text[end] == quote ? '\0' : quote;
      else if (text[end] == '\'' || text[end] == '"')
        quote = text[end];
    }
    if (end >= text.size()) fail("a tag has no end");
    std::string_view content = text.substr(at + 2, end - at - 2);
    bool const trims_before = content.starts_with('-');
    std::string_view before = text.substr(0, at);
    // As transformers renders templates: blanks between a line's begin and a statement are left
    // out.
    if (kind != '{') {
      std::size_t const last = before.find_last_not_of(" \t");
      if (last == before.npos ? all.empty() || at_line_begin : before[last] == '\n')
        before = before.substr(0, last + 1);
    }
    add_text(before, trims_before);
    if (trims_before) content.remove_prefix(1);
    trim_next = content.ends_with('-');
    if (trim_next) content.remove_suffix(1);
    if (kind != '#')
      all.push_back(
          {kind == '{' ? piece::output : piece::statement, jinja::trimmed(std::string(content))});
    text.remove_prefix(end + 2);
    // As transformers renders templates: a line break right after a statement is left out.
    at_line_begin = kind != '{' && text.starts_with('\n');
    if (at_line_begin && !trim_next) text.remove_prefix(1);
  }
  add_text(text, false);
  return all;
}

// A value as Jinja2 prints it; nothing for an undefined one.
std::string printed(const value& x) {
  if (x.text()) return *x.text();
  if (x.integer()) return std::to_string(*x.integer());
  if (auto const* const b = std::get_if<bool>(&x.of)) return *b ? "True" : "False";
  if (std::holds_alternative<jinja::none>(x.of)) return "None";
  if (!std::holds_alternative<jinja::undefined>(x.of)) fail("a list or an object is printed");
  return "";
}

// Parses statements up to one of those that end them.
class block_parser {
 public:
  explicit block_parser(std::vector<piece> pieces) : pieces_(std::move(pieces)) {}

  block whole() {
    block b = until({});
    if (at_ < pieces_.size()) fail("'" + pieces_[at_].content + "' has no beginning");
    return b;
  }

 private:
  // Whether the next piece is a statement that begins with this word.
  bool is(std::string_view word) const {
    return at_ < pieces_.size() && pieces_[at_].kind == piece::statement &&
           parser(pieces_[at_].content).word(word);
  }
  parser take(std::string_view word) {
    parser p(pieces_[at_++].content);
    p.word(word);
    return p;
  }
  void end(std::string_view word) {
    if (!is(word)) fail("there is no '" + std::string(word) + "'");
    take(word).end();
  }

  block until(std::initializer_list<std::string_view> ends) {
    if (++depth_ > 50) fail("statements are nested deeper than 50 levels");
    block b;
    for (; at_ < pieces_.size();) {
      bool ended = false;
      for (auto const e : ends) ended = ended || is(e);
      if (ended) break;
      piece const& p = pieces_[at_];
      if (p.kind == piece::text) {
        b.all.push_back([t = p.content](variables&, std::string& out) { out += t; });
        ++at_;
      } else if (p.kind == piece::output) {
        b.all.push_back([e = parser(p.content).whole()](variables& v, std::string& out) {
          out += printed(e(v));
        });
        ++at_;
      } else if (is("if")) {
        b.all.push_back(condition());
      } else if (is("for")) {
        b.all.push_back(loop());
      } else if (is("set")) {
        parser q = take("set");
        std::string const name = q.name();
        if (!q.sign("=")) fail("set of '" + name + "' has no '='");
        b.all.push_back([name, e = q.whole()](variables& v, std::string&) { v[name] = e(v); });
      } else {
        fail("the statement '" + p.content + "' is not known");
      }
    }
    --depth_;
    return b;
  }

  statement condition() {
    struct branch {
      expression condition;
      block then;
    };
    std::vector<branch> branches;
    for (std::string_view word = "if"; is(word); word = "elif") {
      expression e = take(word).whole();
      branches.push_back({std::move(e), until({"elif", "else", "endif"})});
    }
    block otherwise;
    if (is("else")) {
      take("else").end();
      otherwise = until({"endif"});
    }
    end("endif");
    return [branches, otherwise](variables& v, std::string& out) {
      for (auto const& b : branches)
        if (b.condition(v).is_true()) return b.then.run(v, out);
      otherwise.run(v, out);
    };
  }

  statement loop() {
    parser p = take("for");
    std::string const name = p.name();
    if (!p.word("in")) fail("a loop over '" + name + "' has no 'in'");
    expression const over = p.whole();
    block const body = until({"endfor"});
    end("endfor");
    return [name, over, body](variables& v, std::string& out) {
      value const all = over(v);
      auto const* const items = std::get_if<std::shared_ptr<const list>>(&all.of);
      if (items == nullptr) fail("a loop over '" + name + "' is over no list");
      auto const size = static_cast<std::int64_t>((*items)->size());
      variables inner = v;  // what is set in a loop is not seen after it
      for (std::int64_t i = 0; i < size; ++i) {
        inner[name] = (**items)[static_cast<std::size_t>(i)];
        inner["loop"] = value{std::make_shared<const object>(object{{"first", value{i == 0}},
                                                                    {"last", value{i + 1 == size}},
                                                                    {"index", value{i + 1}},
                                                                    {"index0", value{i}}})};
        body.run(inner, out);
      }
    };
  }

  std::vector<piece> pieces_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

chat_template::chat_template(std::string_view text)
    : whole_(std::make_unique<const block>(block_parser(pieces_of(text)).whole())) {}
chat_template::~chat_template() = default;
chat_template::chat_template(chat_template&&) noexcept = default;

std::string chat_template::apply(const std::vector<message>& messages, bool add_prompt) const {
  list all;
  for (auto const& m : messages)
    all.push_back(value{std::make_shared<const object>(
        object{{"role", value{m.role}}, {"content", value{m.content}}})});
  variables v{{"messages", value{std::make_shared<const list>(std::move(all))}},
              {"add_generation_prompt", value{add_prompt}},
              {"bos_token", value{std::string()}},
              {"eos_token", value{std::string()}}};
  std::string out;
  whole_->run(v, out);
  return out;
}

}  // namespace chat
