// Expressions of a chat template, as functions of the variables: see chat_template.hpp.
#pragma once

#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#include <weft/run/error.hpp>

namespace chat::jinja {

[[noreturn]] inline void fail(const std::string& what) {
  throw weft::error("the chat template: " + what);
}

struct value;
using list = std::vector<value>;
using object = std::map<std::string, value>;
struct undefined {};
struct none {};

// What an expression gives: undefined where a name, or an attribute, is not there.
struct value {
  std::variant<undefined, none, bool, std::int64_t, std::string, std::shared_ptr<const list>,
               std::shared_ptr<const object>>
      of;

  bool is_true() const {
    struct {
      bool operator()(undefined) const { return false; }
      bool operator()(none) const { return false; }
      bool operator()(bool b) const { return b; }
      bool operator()(std::int64_t i) const { return i != 0; }
      bool operator()(const std::string& s) const { return !s.empty(); }
      bool operator()(const std::shared_ptr<const list>& l) const { return !l->empty(); }
      bool operator()(const std::shared_ptr<const object>& o) const { return !o->empty(); }
    } const visitor;
    return std::visit(visitor, of);
  }
  const std::string* text() const { return std::get_if<std::string>(&of); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&of); }
};

inline bool equal(const value& a, const value& b) {
  if (a.of.index() != b.of.index()) return false;
  if (a.text()) return *a.text() == *b.text();
  if (a.integer()) return *a.integer() == *b.integer();
  if (auto const* const x = std::get_if<bool>(&a.of)) return *x == std::get<bool>(b.of);
  return std::holds_alternative<none>(a.of);
}

using variables = std::map<std::string, value>;
using expression = std::function<value(const variables&)>;

inline value attribute(const value& of, const value& key) {
  if (auto const* const o = std::get_if<std::shared_ptr<const object>>(&of.of)) {
    auto const found = key.text() ? (*o)->find(*key.text()) : (*o)->end();
    return found == (*o)->end() ? value{} : found->second;
  }
  if (auto const* const l = std::get_if<std::shared_ptr<const list>>(&of.of)) {
    if (!key.integer()) return {};
    auto const size = static_cast<std::int64_t>((*l)->size());
    std::int64_t const at = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    return at < 0 || at >= size ? value{} : (**l)[static_cast<std::size_t>(at)];
  }
  return {};
}

inline std::string trimmed(const std::string& text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  auto const begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Parses expressions of one tag. Each function parses what binds at least as tightly as its name.
class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  expression whole() {
    expression e = disjunction();
    end();
    return e;
  }
  // The rest after `for NAME in` and the like.
  expression disjunction() {
    expression left = conjunction();
    while (word("or"))
      left = [l = left, r = conjunction()](const variables& v) {
        value x = l(v);
        return x.is_true() ? x : r(v);
      };
    return left;
  }
  std::string name() {
    blanks();
    std::size_t n = 0;
    while (n < text_.size() && is_of_name(text_[n])) ++n;
    if (n == 0 || std::isdigit(static_cast<unsigned char>(text_[0])))
      fail("a name is missing in '" + rest() + "'");
    std::string const found(text_.substr(0, n));
    text_.remove_prefix(n);
    return found;
  }
  // Whether this word, or this sign, comes next, which it then goes past.
  bool word(std::string_view w) {
    blanks();
    if (!text_.starts_with(w) || (text_.size() > w.size() && is_of_name(text_[w.size()])))
      return false;
    text_.remove_prefix(w.size());
    return true;
  }
  bool sign(std::string_view s) {
    blanks();
    if (!text_.starts_with(s)) return false;
    text_.remove_prefix(s.size());
    return true;
  }
  void end() {
    blanks();
    if (!text_.empty()) fail("'" + rest() + "' is not understood");
  }

 private:
  static bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  void blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])))
      text_.remove_prefix(1);
  }
  std::string rest() const { return std::string(text_.substr(0, 60)); }
  void expect(std::string_view s) {
    if (!sign(s)) fail("'" + std::string(s) + "' is missing before '" + rest() + "'");
  }
  // Nested parentheses and nots take stack.
  struct deeper {
    explicit deeper(int& d) : depth(d) {
      if (++depth > 100) fail("an expression is nested deeper than 100 levels");
    }
    ~deeper() { --depth; }
    int& depth;
  };

  expression conjunction() {
    expression left = negation();
    while (word("and"))
      left = [l = left, r = negation()](const variables& v) {
        value x = l(v);
        return x.is_true() ? r(v) : x;
      };
    return left;
  }
  expression negation() {
    deeper const here(depth_);
    if (!word("not")) return comparison();
    return [e = negation()](const variables& v) { return value{!e(v).is_true()}; };
  }
  expression comparison() {
    expression left = sum();
    for (;;) {
      if (sign("==")) {
        left = [l = left, r = sum()](const variables& v) { return value{equal(l(v), r(v))}; };
      } else if (sign("!=")) {
        left = [l = left, r = sum()](const variables& v) { return value{!equal(l(v), r(v))}; };
      } else if (word("in")) {
        left = [l = left, r = sum()](const variables& v) { return value{contains(r(v), l(v))}; };
      } else if (word("is")) {
        bool const negated = word("not");
        std::string const test = name();
        if (test != "defined" && test != "none") fail("the test '" + test + "' is not known");
        left = [l = left, test, negated](const variables& v) {
          value const x = l(v);
          bool const holds = test == "none" ? std::holds_alternative<none>(x.of)
                                            : !std::holds_alternative<undefined>(x.of);
          return value{holds != negated};
        };
      } else {
        return left;
      }
    }
  }
  static bool contains(const value& whole, const value& part) {
    if (whole.text() && part.text()) return whole.text()->find(*part.text()) != std::string::npos;
    if (auto const* const o = std::get_if<std::shared_ptr<const object>>(&whole.of))
      return part.text() && (*o)->contains(*part.text());
    if (auto const* const l = std::get_if<std::shared_ptr<const list>>(&whole.of))
      for (auto const& x : **l)
        if (equal(x, part)) return true;
    return false;
  }
  expression sum() {
    expression left = postfix();
    while (sign("+"))
      left = [l = left, r = postfix()](const variables& v) {
        value const a = l(v), b = r(v);
        if (a.text() && b.text()) return value{*a.text() + *b.text()};
        if (a.integer() && b.integer()) return value{*a.integer() + *b.integer()};
        fail("+ is of two texts or two integers");
      };
    return left;
  }
  expression postfix() {
    expression e = primary();
    for (;;) {
      if (sign(".")) {
        std::string const key = name();
        if (sign("(")) {  // the methods of texts
          expect(")");
          if (key != "strip") fail("the method '" + key + "' is not known");
          e = trim(e);
        } else {
          e = [o = e, k = value{key}](const variables& v) { return attribute(o(v), k); };
        }
      } else if (sign("[")) {
        e = [o = e, k = disjunction()](const variables& v) { return attribute(o(v), k(v)); };
        expect("]");
      } else if (sign("|")) {
        if (std::string const filter = name(); filter != "trim")
          fail("the filter '" + filter + "' is not known");
        e = trim(e);
      } else {
        return e;
      }
    }
  }
  static expression trim(expression of) {
    return [e = std::move(of)](const variables& v) {
      value const x = e(v);
      if (!x.text()) fail("trim is of a text");
      return value{trimmed(*x.text())};
    };
  }
  expression primary() {
    deeper const here(depth_);
    blanks();
    if (text_.empty()) fail("an expression is missing");
    if (sign("(")) {
      expression e = disjunction();
      expect(")");
      return e;
    }
    if (text_[0] == '\'' || text_[0] == '"') return constant(value{quoted()});
    bool const negative = sign("-");
    if (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])))
      return constant(value{number() * (negative ? -1 : 1)});
    if (negative) fail("- is not followed by a number");
    std::string const word = name();
    if (word == "true" || word == "True") return constant(value{true});
    if (word == "false" || word == "False") return constant(value{false});
    if (word == "none" || word == "None") return constant(value{none{}});
    if (word == "raise_exception") {
      expect("(");
      expression e = disjunction();
      expect(")");
      return [e](const variables& v) -> value {
        value const x = e(v);
        fail(x.text() ? *x.text() : "it raises an exception");
      };
    }
    return [word](const variables& v) {
      auto const found = v.find(word);
      return found == v.end() ? value{} : found->second;
    };
  }
  static expression constant(value x) {
    return [c = std::move(x)](const variables&) { return c; };
  }
  std::int64_t number() {
    std::int64_t n = 0;
    int digits = 0;
    for (; !text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])); ++digits) {
      if (digits == 18) fail("a number is too long");
      n = 10 * n + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return n;
  }
  std::string quoted() {
    char const quote = text_[0];
    text_.remove_prefix(1);
    std::string found;
    while (!text_.empty() && text_[0] != quote) {
      char c = text_[0];
      text_.remove_prefix(1);
      if (c == '\\' && !text_.empty()) {
        c = text_[0] == 'n' ? '\n' : text_[0] == 't' ? '\t' : text_[0];
        text_.remove_prefix(1);
      }
      found.push_back(c);
    }
    if (text_.empty()) fail("a text has no end");
    text_.remove_prefix(1);
    return found;
  }

  std::string_view text_;
  int depth_ = 0;
};

}  // namespace chat::jinja
