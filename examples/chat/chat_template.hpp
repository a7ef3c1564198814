// Chat templates as models bring them along: the part of Jinja2 that they need
// (https://jinja.palletsprojects.com/en/stable/templates).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace chat {

struct message {
  std::string role, content;
};

// Statements: for over a list, with loop.first, loop.last, loop.index and loop.index0; if, elif,
// else; set. Expressions: texts, integers, true, false, none; names, attributes, indices from
// either end; + of texts and of integers, == != and or not in, `is defined`, `is none`; the filter
// trim; parentheses; raise_exception('...'). Signs that trim white space, as in {%- ... -%}.
class chat_template {
 public:
  // Throws weft::error where the text is not of that form: what is not understood, in which line
  // and column.
  explicit chat_template(std::string_view text);
  ~chat_template();
  chat_template(chat_template&&) noexcept;

  // The text of these messages and, if `add_prompt`, of the beginning of the answer. The names
  // bos_token and eos_token are empty. Throws weft::error where the template raises an exception,
  // uses what is not there, or takes more than a million steps and one for each byte of the
  // messages; 32 bytes of a text are a step, too.
  std::string apply(const std::vector<message>& messages, bool add_prompt) const;

  struct block;

 private:
  void located(const std::function<void()>& f) const;

  std::string text_;
  std::unique_ptr<const block> whole_;
};

}  // namespace chat
