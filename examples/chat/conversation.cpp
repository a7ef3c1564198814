#include "conversation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <weft/files/load.hpp>

#include "quoted.hpp"

namespace chat {

namespace {

// The name in a GGUF file of a parameter under its name in transformers.
std::string name_in_gguf(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> parts{
      {{"model.embed_tokens.", "token_embd."},
       {"model.norm.", "output_norm."},
       {"model.layers.", "blk."},
       {"input_layernorm", "attn_norm"},
       {"self_attn.q_proj", "attn_q"},
       {"self_attn.k_proj", "attn_k"},
       {"self_attn.v_proj", "attn_v"},
       {"self_attn.o_proj", "attn_output"},
       {"post_attention_layernorm", "ffn_norm"},
       {"mlp.gate_proj", "ffn_gate"},
       {"mlp.up_proj", "ffn_up"},
       {"mlp.down_proj", "ffn_down"}}};
  std::string in_file = name;
  for (const auto& [from, to] : parts)
    if (const auto at = in_file.find(from); at != in_file.npos)
      in_file.replace(at, from.size(), to);
  return in_file;
}

// What can be said of the file without its weights, which take longer to read.
byte_pairs tokenizer_of(const weft::gguf_file& file, std::size_t vocabulary) {
  if (const auto kind = file.text("general.architecture"); kind != "llama")
    throw weft::error(file.name() + ": the model's architecture is " + quoted(kind) +
                      ", and this program has 'llama', in the size of SmolLM2-135M");
  byte_pairs tokenizer(file);
  if (tokenizer.size() != vocabulary)
    throw weft::error(file.name() + ": the vocabulary has " + std::to_string(tokenizer.size()) +
                      " tokens, and the model has " + std::to_string(vocabulary));
  return tokenizer;
}

// The bytes of a text that are whole characters of UTF-8; an unfinished one at the end is left out.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(4, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    const std::size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return back < size ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

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

conversation::conversation(const weft::gguf_file& file, const weights& how, const sampling& options,
                           std::string system)
    : tokenizer_(tokenizer_of(file, model::Vocab::extent)),
      template_(file.text("tokenizer.chat_template")),
      net_(std::filesystem::exists(how.packed)
               ? weft::weights(how.packed)
               : weft::weights(file, {.name_in_file = name_in_gguf}),
           how.precision, how.threads),
      choose_(options) {
  if (!system.empty()) messages_.push_back({"system", std::move(system)});
  if (!how.packed.empty() && !std::filesystem::exists(how.packed))
    weft::save(net_.packed(), how.packed);
}

// The logits of the last of some tokens.
void conversation::run(std::span<const std::int32_t> tokens) {
  while (!tokens.empty()) {
    const std::size_t count = std::min<std::size_t>(tokens.size(), model::Pos::extent);
    const auto result = net_(weft::arg<"tokens">(tokens.first(count))).get<"logits">();
    logits_ = {result.data(), model::Vocab::extent};
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
  if (before + tokens.size() >= capacity)
    throw weft::error("the conversation would have " + std::to_string(before + tokens.size()) +
                      " tokens, and the cache has room for " + std::to_string(capacity));
  if (!goes_on) {
    net_.reset();
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
