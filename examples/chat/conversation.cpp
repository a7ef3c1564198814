#include "conversation.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace chat {

prompt prompt_of(const std::vector<message>& messages, std::string_view done,
                 const chat_template& form, const byte_pairs& tokenizer) {
  prompt p{.whole = form.apply(messages, true), .tokens = {}, .goes_on = false};
  // What the cache has is the beginning of the text, unless the template says earlier turns in
  // another way now.
  p.goes_on = p.whole.starts_with(done);
  p.tokens = tokenizer.tokens(std::string_view(p.whole).substr(p.goes_on ? done.size() : 0));
  // Without a token there are no logits to choose the next one by.
  if (p.tokens.empty()) throw weft::error("the chat template makes no token of the message");
  return p;
}

conversation::either conversation::net_of(const weft::gguf_file& file, const weights& how,
                                          std::size_t window) {
  const weft::weights source = source_of(file, how.packed);
  if (window == 0) return either(std::in_place_type<whole>, source, how.precision, how.threads);
  return either(std::in_place_type<rolling>, source, how.precision, how.threads);
}

conversation::conversation(const weft::gguf_file& file, const weights& how, const sampling& options,
                           std::string system, std::size_t window)
    : tokenizer_(tokenizer_of(file)),
      template_(file.text("tokenizer.chat_template")),
      window_(window),
      net_(net_of(file, how, window)),
      choose_(options) {
  if (!system.empty()) messages_.push_back({"system", std::move(system)});
  if (!how.packed.empty() && !std::filesystem::exists(how.packed))
    std::visit([&](const auto& net) { weft::save(net.packed(), how.packed); }, net_);
}

// The logits of the last of some tokens.
void conversation::run(std::span<const std::int32_t> tokens) {
  while (!tokens.empty()) {
    const std::size_t count = std::min<std::size_t>(tokens.size(), model::Pos::extent);
    const auto part = weft::arg<"tokens">(tokens.first(count));
    if (auto* const all = std::get_if<whole>(&net_)) {
      logits_ = {(*all)(part).get<"logits">().data(), model::Vocab::extent};
    } else {
      const auto recent = static_cast<std::int32_t>(window_) - most_sinks;
      const auto result = std::get<rolling>(net_)(part, weft::arg<"window">(recent),
                                                  weft::arg<"sinks">(std::int32_t{most_sinks}));
      logits_ = {result.get<"logits">().data(), model::Vocab::extent};
    }
    tokens = tokens.subspan(count);
    tokens_done_ += count;
  }
}

std::string conversation::answer(const std::string& text, std::size_t most,
                                 const std::function<void(std::string_view)>& stream) {
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
  };
  std::vector<message> messages = messages_;
  messages.push_back({"user", text});
  const auto [whole, tokens, goes_on] = prompt_of(messages, done_, template_, tokenizer_);
  const std::size_t before = goes_on ? tokens_done_ : 0;
  if (window_ == 0 && before + tokens.size() >= capacity)
    throw weft::error("the conversation would have " + std::to_string(before + tokens.size()) +
                      " tokens, and the cache has room for " + std::to_string(capacity));
  if (!goes_on) {
    std::visit([](auto& net) { net.reset(); }, net_);
    tokens_done_ = 0;
  }

  const auto begin = clock::now();
  run(tokens);
  last_ = {tokens.size(), 0, since(begin), 0};
  std::string said;
  std::size_t shown = 0;
  const auto show = [&](std::size_t end) {
    if (end > shown) stream(std::string_view(said).substr(shown, end - shown));
    shown = std::max(shown, end);
  };
  const auto begin_answer = clock::now();
  for (; last_.answer < most; ++last_.answer) {
    const std::int32_t token = choose_(logits_);
    if (tokenizer_.is_end(token) || is_full()) break;
    said += tokenizer_.bytes(token);
    show(whole_characters(said));
    run(std::span(&token, 1));
  }
  last_.answer_seconds = since(begin_answer);
  show(said.size());
  messages.push_back({"assistant", said});
  messages_ = std::move(messages);
  // The answer's end is not in the cache yet: it comes with the next turn.
  done_ = whole + said;
  return said;
}

}  // namespace chat
