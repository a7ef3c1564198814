// Fuzzes the chat templates of examples/chat: a template is applied, or refused in one line, soon.
// A zero byte ends the template, and each message of users and assistants in turn.
#include <algorithm>

#include "chat/chat_template.hpp"
#include "fuzz/input.hpp"
#include "weft/run/error.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const auto end = std::min(rest.find('\0'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
  };
  const std::string_view text = next();
  std::vector<chat::message> messages{{"system", "s"}, {"user", " u\n"}, {"assistant", ""}};
  while (!rest.empty())
    messages.push_back({messages.size() % 2 == 1 ? "user" : "assistant", std::string(next())});
  try {
    const chat::chat_template form(text);
    const std::string said = form.apply(messages, true);
    fuzz::expect(form.apply(messages, true) == said);
    if (text.find('{') == text.npos) fuzz::expect(said == text);
  } catch (const weft::error& e) {
    const std::string_view what = e.what();
    fuzz::expect(what.starts_with("the chat template, line ") && what.size() < 300 &&
                 what.find('\n') == what.npos);
  }
  return 0;
}
