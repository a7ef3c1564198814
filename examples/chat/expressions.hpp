// Expressions of a chat template, as functions of the variables: see chat_template.hpp.
#pragma once

#include <cctype>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "quoted.hpp"

namespace chat::jinja {

// What is wrong with a template, and at which byte of it.
struct fault {
  static constexpr std::size_t nowhere = std::string_view::npos;
  std::string what;
  std::size_t at;
};
[[noreturn]] inline void fail(std::string what, std::size_t at = fault::nowhere) {
  throw fault{std::move(what), at};
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
  if (const auto* const x = std::get_if<bool>(&a.of)) return *x == std::get<bool>(b.of);
  return std::holds_alternative<none>(a.of);
}

// How much a template may still do. A few statements can double a text without end, or loop in
// loops for years; bytes count as well as steps, so the memory has a bound, too.
class meter {
 public:
  explicit meter(std::size_t steps) : left_(steps) {}
  void take(std::size_t bytes, std::size_t at) {
    const std::size_t steps = 1 + bytes / 32;
    if (steps > left_) fail("it takes too many steps", at);
    left_ -= steps;
  }

 private:
  std::size_t left_;
};

// The variables of one turn of a loop, or of the whole template. Those around are seen, too.
class scope {
 public:
  explicit scope(meter& steps) : meter_(&steps) {}
  explicit scope(const scope* around) : around_(around), meter_(around->meter_) {}

  value get(const std::string& name) const {
    for (const scope* s = this; s != nullptr; s = s->around_)
      if (const auto found = s->own_.find(name); found != s->own_.end()) return found->second;
    return {};
  }
  void set(const std::string& name, value x) { own_[name] = std::move(x); }
  void take(std::size_t bytes, std::size_t at = fault::nowhere) const { meter_->take(bytes, at); }

 private:
  object own_;
  const scope* around_ = nullptr;
  meter* meter_;
};

class expression {
 public:
  template <class F>
  requires(!std::same_as<F, expression>) expression(F f) : compute_(std::move(f)) {}
  value operator()(const scope& s) const {
    value x = compute_(s);
    s.take(x.text() ? x.text()->size() : 0);
    return x;
  }

 private:
  std::function<value(const scope&)> compute_;
};

inline value attribute(const value& of, const value& key) {
  if (const auto* const o = std::get_if<std::shared_ptr<const object>>(&of.of)) {
    const auto found = key.text() ? (*o)->find(*key.text()) : (*o)->end();
    return found == (*o)->end() ? value{} : found->second;
  }
  if (const auto* const l = std::get_if<std::shared_ptr<const list>>(&of.of)) {
    if (!key.integer()) return {};
    const auto size = static_cast<std::int64_t>((*l)->size());
    const std::int64_t at = *key.integer() < 0 ? *key.integer() + size : *key.integer();
    return at < 0 || at >= size ? value{} : (**l)[static_cast<std::size_t>(at)];
  }
  return {};
}

inline std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) + 1 - begin));
}

// Parses expressions of one tag. Each function parses what binds at least as tightly as its name.
class parser {
 public:
  // The text is at the byte `at` of the template.
  parser(std::string_view text, std::size_t at) : text_(text), end_(at + text.size()) { blanks(); }

  // What fails while it is computed is at its begin.
  expression whole() {
    blanks();
    const std::size_t begin = at();
    expression e = disjunction();
    end();
    return [e = std::move(e), begin](const scope& s) {
      try {
        return e(s);
      } catch (fault& f) {
        if (f.at == fault::nowhere) f.at = begin;
        throw;
      }
    };
  }
  expression disjunction() {
    expression left = conjunction();
    while (word("or"))
      left = [l = std::move(left), r = conjunction()](const scope& v) {
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
      wrong("a name is missing before " + rest());
    named_at_ = at();
    const std::string found(text_.substr(0, n));
    text_.remove_prefix(n);
    return found;
  }
  // Whether this word, or this sign, comes next, which it then goes past.
  bool word(std::string_view w) {
    blanks();
    if (!text_.starts_with(w) || (text_.size() > w.size() && is_of_name(text_[w.size()])))
      return false;
    pass(w.size());
    return true;
  }
  bool sign(std::string_view s) {
    blanks();
    if (!text_.starts_with(s)) return false;
    pass(s.size());
    return true;
  }
  void end() {
    blanks();
    if (!text_.empty()) wrong(rest() + " is not understood");
  }
  // The byte of the template that comes next, and a complaint about it.
  std::size_t at() const { return end_ - text_.size(); }
  [[noreturn]] void wrong(std::string what) const { fail(std::move(what), at()); }
  std::string rest() const { return text_.empty() ? "the end of the tag" : quoted(trimmed(text_)); }

 private:
  static bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  void blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_[0])))
      text_.remove_prefix(1);
  }
  [[noreturn]] void unknown(const char* kind, const std::string& name) const {
    fail("the " + std::string(kind) + " " + quoted(name) + " is not known", named_at_);
  }
  void expect(std::string_view s) {
    if (!sign(s)) wrong(quoted(s) + " is missing before " + rest());
  }
  // Each sign and each word may be a function that calls another, and calls take stack.
  void pass(std::size_t size) {
    constexpr int most = 1000;
    if (++passed_ > most) wrong("an expression has more than 1000 signs and words");
    text_.remove_prefix(size);
  }
  // Nested parentheses and nots take stack.
  struct deeper {
    explicit deeper(parser& p) : depth(p.depth_) {
      if (depth == 100) p.wrong("an expression is nested deeper than 100 levels");
      ++depth;
    }
    ~deeper() { --depth; }
    int& depth;
  };

  expression conjunction() {
    expression left = negation();
    while (word("and"))
      left = [l = std::move(left), r = negation()](const scope& v) {
        value x = l(v);
        return x.is_true() ? r(v) : x;
      };
    return left;
  }
  expression negation() {
    const deeper here(*this);
    if (!word("not")) return comparison();
    return [e = negation()](const scope& v) { return value{!e(v).is_true()}; };
  }
  expression comparison() {
    expression left = sum();
    for (;;) {
      if (sign("==")) {
        left = [l = std::move(left), r = sum()](const scope& v) {
          return value{equal(l(v), r(v))};
        };
      } else if (sign("!=")) {
        left = [l = std::move(left), r = sum()](const scope& v) {
          return value{!equal(l(v), r(v))};
        };
      } else if (word("in")) {
        left = [l = std::move(left), r = sum()](const scope& v) {
          const value part = l(v), whole = r(v);
          return value{contains(whole, part, v)};
        };
      } else if (word("is")) {
        const bool negated = word("not");
        const std::string test = name();
        if (test != "defined" && test != "none") unknown("test", test);
        left = [l = std::move(left), test, negated](const scope& v) {
          const value x = l(v);
          const bool holds = test == "none" ? std::holds_alternative<none>(x.of)
                                            : !std::holds_alternative<undefined>(x.of);
          return value{holds != negated};
        };
      } else {
        return left;
      }
    }
  }
  static bool contains(const value& whole, const value& part, const scope& v) {
    if (whole.text() && part.text()) {
      // At each place the part may nearly fit; bytes are compared many at a time.
      v.take(whole.text()->size() * part.text()->size() / 16);
      return whole.text()->find(*part.text()) != std::string::npos;
    }
    if (const auto* const o = std::get_if<std::shared_ptr<const object>>(&whole.of))
      return part.text() && (*o)->contains(*part.text());
    if (const auto* const l = std::get_if<std::shared_ptr<const list>>(&whole.of))
      for (const auto& x : **l)
        if (equal(x, part)) return true;
    return false;
  }
  expression sum() {
    expression left = postfix();
    while (sign("+"))
      left = [l = std::move(left), r = postfix()](const scope& v) {
        const value a = l(v), b = r(v);
        if (a.text() && b.text()) return value{*a.text() + *b.text()};
        if (a.integer() && b.integer()) return value{sum_of(*a.integer(), *b.integer())};
        fail("+ is of two texts or two integers");
      };
    return left;
  }
  static std::int64_t sum_of(std::int64_t a, std::int64_t b) {
    using limits = std::numeric_limits<std::int64_t>;
    if (b > 0 ? a > limits::max() - b : a < limits::min() - b) fail("a sum is too large");
    return a + b;
  }
  expression postfix() {
    expression e = primary();
    for (;;) {
      if (sign(".")) {
        const std::string key = name();
        if (sign("(")) {  // the methods of texts
          expect(")");
          if (key != "strip") unknown("method", key);
          e = trim(std::move(e));
        } else {
          e = [o = std::move(e), k = value{key}](const scope& v) { return attribute(o(v), k); };
        }
      } else if (sign("[")) {
        e = [o = std::move(e), k = disjunction()](const scope& v) { return attribute(o(v), k(v)); };
        expect("]");
      } else if (sign("|")) {
        if (const std::string filter = name(); filter != "trim") unknown("filter", filter);
        e = trim(std::move(e));
      } else {
        return e;
      }
    }
  }
  static expression trim(expression of) {
    return [e = std::move(of)](const scope& v) {
      const value x = e(v);
      if (!x.text()) fail("trim is of a text");
      return value{trimmed(*x.text())};
    };
  }
  expression primary() {
    const deeper here(*this);
    blanks();
    if (text_.empty()) wrong("an expression is missing");
    if (sign("(")) {
      expression e = disjunction();
      expect(")");
      return e;
    }
    if (text_[0] == '\'' || text_[0] == '"') return constant(value{literal()});
    const bool negative = sign("-");
    if (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])))
      return constant(value{number() * (negative ? -1 : 1)});
    if (negative) wrong("- is not followed by a number");
    const std::string word = name();
    if (word == "true" || word == "True") return constant(value{true});
    if (word == "false" || word == "False") return constant(value{false});
    if (word == "none" || word == "None") return constant(value{none{}});
    if (word == "raise_exception") {
      expect("(");
      expression e = disjunction();
      expect(")");
      return [e = std::move(e)](const scope& v) -> value {
        const value x = e(v);
        fail(x.text() ? *x.text() : "it raises an exception");
      };
    }
    return [word](const scope& v) { return v.get(word); };
  }
  static expression constant(value x) {
    return [c = std::move(x)](const scope&) { return c; };
  }
  std::int64_t number() {
    std::int64_t n = 0;
    int digits = 0;
    for (; !text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])); ++digits) {
      if (digits == 18) wrong("a number is too long");
      n = 10 * n + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return n;
  }
  std::string literal() {
    const char quote = text_[0];
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
    if (text_.empty()) wrong("a text has no end");
    text_.remove_prefix(1);
    return found;
  }

  std::string_view text_;
  std::size_t end_;           // of the text in the template
  std::size_t named_at_ = 0;  // the begin of the last name
  int depth_ = 0, passed_ = 0;
};

}  // namespace chat::jinja
