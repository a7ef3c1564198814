// A conversation with a language model: its turns are in one cache.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "byte_pairs.hpp"
#include "chat_template.hpp"
#include "model_file.hpp"
#include "sampler.hpp"

namespace chat {

// What the model reads before it answers the last of some messages.
struct prompt {
  std::string whole;                 // the text of the conversation
  std::vector<std::int32_t> tokens;  // of what is new in it
  bool goes_on;                      // whether it begins with what the cache has
};
// `done` is the text that the cache has. Throws weft::error where the message is not UTF-8, or the
// template cannot be applied to it or makes no token of it.
prompt prompt_of(const std::vector<message>& messages, std::string_view done,
                 const chat_template& form, const byte_pairs& tokenizer);

// SmolLM2-135M-Instruct from its GGUF file.
class conversation {
  // Rotated pairs are interleaved in GGUF files of Llama's form.
  using model = models::llama<models::smollm2_135m, 256, 8192, weft::rotary_pairs::interleaved>;
  using whole = weft::module<model>;
  using rolling = weft::module<smollm2_in_window<256>, "logits">;
  using either = std::variant<whole, rolling>;
  static constexpr std::size_t kept_in_window = smollm2_in_window<256>::Recent::extent;

 public:
  static constexpr std::size_t capacity = model::Cache::extent;  // tokens of all turns together

  struct counts {
    std::size_t prompt = 0, answer = 0;  // tokens of the last turn
    double prompt_seconds = 0, answer_seconds = 0;
  };

  using weights = chat::weights;

  // Throws weft::error where the file is not that of the model. A system message may be empty. With
  // a window, from most_sinks + 1 to most_window, each token sees as many, most_sinks of them the
  // conversation's first, and a conversation has no end.
  conversation(const weft::gguf_file& file, const weights& how, const sampling& options,
               std::string system, std::size_t window = 0);

  // The answer to a message, of at most `most` tokens; `stream` gets its text as it is made, in
  // whole characters. Throws weft::error as prompt_of does, and where the cache has no room for the
  // message; the conversation can then go on with another one.
  std::string answer(const std::string& text, std::size_t most,
                     const std::function<void(std::string_view)>& stream);

  // Whether the last answer ended because the cache is full.
  bool is_full() const { return window_ == 0 && tokens_done_ >= capacity; }
  std::size_t tokens_done() const { return tokens_done_; }
  // Those whose keys and values the cache has.
  std::size_t tokens_kept() const {
    return window_ == 0 ? tokens_done_ : std::min(tokens_done_, kept_in_window);
  }
  const counts& last() const { return last_; }
  // Those of the token after all that the cache has, until the next answer.
  std::span<const float> logits() const { return logits_; }
  // The bytes of a token's keys and values in the cache.
  static constexpr std::size_t cache_bytes_per_token =
      std::size_t{2} * models::smollm2_135m::layers * models::smollm2_135m::kv_heads *
      models::smollm2_135m::head_dim * sizeof(float);

 private:
  static either net_of(const weft::gguf_file& file, const weights& how, std::size_t window);
  void run(std::span<const std::int32_t> tokens);

  byte_pairs tokenizer_;
  chat_template template_;
  std::size_t window_;
  either net_;
  sampler choose_;
  std::vector<message> messages_;
  std::string done_;  // the text of the conversation that the cache has
  std::size_t tokens_done_ = 0;
  std::span<const float> logits_;  // in the module's workspace
  counts last_;
};

}  // namespace chat
