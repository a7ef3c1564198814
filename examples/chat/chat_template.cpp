#include "chat_template.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>
#include <weft/run/error.hpp>

#include "expressions.hpp"

namespace chat {

using jinja::expression;
using jinja::fail;
using jinja::list;
using jinja::object;
using jinja::parser;
using jinja::scope;
using jinja::value;
using statement = std::function<void(scope&, std::string&)>;

// Statements that are executed one after another.
struct chat_template::block {
  std::vector<statement> all;

  void run(scope& v, std::string& out) const {
    for (const auto& s : all) s(v, out);
  }
};

namespace {

using block = chat_template::block;

// A tag, {{ ... }} or {% ... %}, or the text between two.
struct piece {
  enum { text, output, statement } kind;
  std::string_view content;
  std::size_t at;  // the byte of the template at which the content begins
};

std::vector<piece> pieces_of(std::string_view text) {
  std::vector<piece> all;
  const auto at_of = [whole = text.data()](std::string_view t) {
    return static_cast<std::size_t>(t.data() - whole);
  };
  bool trim_next = false, at_line_begin = true;
  const auto add_text = [&](std::string_view t, bool trim_end) {
    if (trim_next) t.remove_prefix(std::min(t.find_first_not_of(" \t\r\n"), t.size()));
    if (trim_end) t = t.substr(0, t.find_last_not_of(" \t\r\n") + 1);
    if (!t.empty()) all.push_back({piece::text, t, at_of(t)});
  };
  for (;;) {
    std::size_t at = text.find('{');
    while (at != text.npos &&
           (at + 1 == text.size() || std::string_view("{%#").find(text[at + 1]) == text.npos))
      at = text.find('{', at + 1);
    if (at == text.npos) break;
    const char kind = text[at + 1];
    const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
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
    if (end >= text.size()) fail("a tag has no end", at_of(text.substr(at)));
    std::string_view content = text.substr(at + 2, end - at - 2);
    const bool trims_before = content.starts_with('-');
    std::string_view before = text.substr(0, at);
    // As transformers renders templates: blanks between a line's begin and a statement are left
    // out.
    if (kind != '{') {
      const std::size_t last = before.find_last_not_of(" \t");
      if (last == before.npos ? all.empty() || at_line_begin : before[last] == '\n')
        before = before.substr(0, last + 1);
    }
    add_text(before, trims_before);
    if (trims_before) content.remove_prefix(1);
    trim_next = content.ends_with('-');
    if (trim_next) content.remove_suffix(1);
    if (kind != '#')
      all.push_back({kind == '{' ? piece::output : piece::statement, content, at_of(content)});
    text.remove_prefix(end + 2);
    // As transformers renders templates: a line break right after a statement is left out.
    at_line_begin = kind != '{' && text.starts_with('\n');
    if (at_line_begin && !trim_next) text.remove_prefix(1);
  }
  add_text(text, false);
  return all;
}

// A value as Jinja2 prints it; nothing for an undefined one.
std::string printed(const value& x, std::size_t at) {
  if (x.text()) return *x.text();
  if (x.integer()) return std::to_string(*x.integer());
  if (const auto* const b = std::get_if<bool>(&x.of)) return *b ? "True" : "False";
  if (std::holds_alternative<jinja::none>(x.of)) return "None";
  if (!std::holds_alternative<jinja::undefined>(x.of)) fail("a list or an object is printed", at);
  return "";
}

// Parses statements up to one of those that end them.
class block_parser {
 public:
  explicit block_parser(std::vector<piece> pieces) : pieces_(std::move(pieces)) {}

  block whole() { return until({}); }

 private:
  parser next() const { return {pieces_[at_].content, pieces_[at_].at}; }
  // Whether the next piece is a statement that begins with this word.
  bool is(std::string_view word) const {
    return at_ < pieces_.size() && pieces_[at_].kind == piece::statement && next().word(word);
  }
  parser take(std::string_view word) {
    parser p = next();
    p.word(word);
    ++at_;
    return p;
  }
  // Goes past the end of a statement that begins at the byte `begin`.
  void end(std::string_view word, std::size_t begin) {
    if (!is(word)) fail("there is no '" + std::string(word) + "'", begin);
    take(word).end();
  }

  block until(std::initializer_list<std::string_view> ends) {
    block b;
    while (at_ < pieces_.size() && std::ranges::none_of(ends, [&](auto e) { return is(e); })) {
      const piece& p = pieces_[at_];
      parser q = next();
      if (p.kind == piece::text) {
        b.all.push_back([t = std::string(p.content), at = p.at](scope& v, std::string& out) {
          v.take(t.size(), at);
          out += t;
        });
        ++at_;
      } else if (p.kind == piece::output) {
        const std::size_t at = q.at();
        b.all.push_back(
            [e = q.whole(), at](scope& v, std::string& out) { out += printed(e(v), at); });
        ++at_;
      } else if (is("if") || is("for")) {
        if (++depth_ > 50) q.wrong("statements are nested deeper than 50 levels");
        b.all.push_back(is("if") ? condition() : loop());
        --depth_;
      } else if (q.word("set")) {
        const std::string name = q.name();
        if (!q.sign("=")) q.wrong("'=' is missing before " + q.rest());
        b.all.push_back([name, e = q.whole()](scope& v, std::string&) { v.set(name, e(v)); });
        ++at_;
      } else {
        const auto name = jinja::trimmed(p.content);
        q.wrong(name.empty() ? "a statement is missing"
                             : "the statement " + quoted(name) + " is not known");
      }
    }
    return b;
  }

  statement condition() {
    struct branch {
      expression condition;
      block then;
    };
    std::vector<branch> branches;
    const std::size_t begin = next().at();
    for (std::string_view word = "if"; is(word); word = "elif") {
      expression e = take(word).whole();
      branches.push_back({std::move(e), until({"elif", "else", "endif"})});
    }
    block otherwise;
    if (is("else")) {
      take("else").end();
      otherwise = until({"endif"});
    }
    end("endif", begin);
    return [branches = std::move(branches), otherwise = std::move(otherwise)](scope& v,
                                                                              std::string& out) {
      for (const auto& b : branches)
        if (b.condition(v).is_true()) return b.then.run(v, out);
      otherwise.run(v, out);
    };
  }

  statement loop() {
    const std::size_t begin = next().at();
    parser p = take("for");
    const std::string name = p.name();
    if (!p.word("in")) p.wrong("'in' is missing before " + p.rest());
    expression over = p.whole();
    block body = until({"endfor"});
    end("endfor", begin);
    return
        [name, begin, over = std::move(over), body = std::move(body)](scope& v, std::string& out) {
          const value all = over(v);
          const auto* const items = std::get_if<std::shared_ptr<const list>>(&all.of);
          if (items == nullptr) fail("a loop over " + quoted(name) + " is over no list", begin);
          const auto size = static_cast<std::int64_t>((*items)->size());
          for (std::int64_t i = 0; i < size; ++i) {
            v.take(sizeof(scope) + sizeof(object), begin);
            scope inner(&v);  // what is set in a turn is not seen after it
            inner.set(name, (**items)[static_cast<std::size_t>(i)]);
            inner.set("loop",
                      value{std::make_shared<const object>(object{{"first", value{i == 0}},
                                                                  {"last", value{i + 1 == size}},
                                                                  {"index", value{i + 1}},
                                                                  {"index0", value{i}}})});
            body.run(inner, out);
          }
        };
  }

  std::vector<piece> pieces_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

chat_template::chat_template(std::string_view text) : text_(text) {
  located([&] { whole_ = std::make_unique<const block>(block_parser(pieces_of(text_)).whole()); });
}
chat_template::~chat_template() = default;
chat_template::chat_template(chat_template&&) noexcept = default;

std::string chat_template::apply(const std::vector<message>& messages, bool add_prompt) const {
  list all;
  std::size_t steps = 1 << 20;
  for (const auto& m : messages) {
    steps += m.content.size();
    all.push_back(value{std::make_shared<const object>(
        object{{"role", value{m.role}}, {"content", value{m.content}}})});
  }
  jinja::meter left(steps);
  scope v(left);
  v.set("messages", value{std::make_shared<const list>(std::move(all))});
  v.set("add_generation_prompt", value{add_prompt});
  v.set("bos_token", value{std::string()});
  v.set("eos_token", value{std::string()});
  std::string out;
  located([&] { whole_->run(v, out); });
  return out;
}

// Calls f, and says of what is wrong in which line and column of the template it is.
void chat_template::located(const std::function<void()>& f) const {
  try {
    f();
  } catch (const jinja::fault& fault) {
    const std::string_view before = std::string_view(text_).substr(0, fault.at);
    throw weft::error("the chat template, line " +
                      std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
                      std::to_string(before.size() - (before.rfind('\n') + 1) + 1) + ": " +
                      one_line(fault.what, 200));
  }
}

}  // namespace chat
