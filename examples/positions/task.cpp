#include "task.hpp"

#include <algorithm>
#include <memory>

namespace positions {

namespace {

constexpr std::size_t places_back = 3;

std::string digits(std::size_t count, random_engine& random) {
  std::uniform_int_distribution<int> digit('0', '9');
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += static_cast<char>(digit(random));
  return all;
}

// A text between its end marks, at which no answer is asked for.
sample between_ends(const std::string& text, const std::string& answer) {
  return {"<" + text + ">", '\0' + answer + '\0'};
}

// A piece of the text; each position's answer is the next character.
sample next_characters(const examples::corpus& text, std::size_t size, part from,
                       random_engine& random) {
  const auto bytes = from == part::train ? text.train() : text.held_out();
  std::uniform_int_distribution<std::size_t> begin(0, bytes.size() - size - 1);
  const auto piece = bytes.subspan(begin(random), size + 1);
  const std::string all(piece.begin(), piece.end());
  return {all.substr(0, size), all.substr(1)};
}

std::vector<sample> draw(const task& t, std::size_t size, part from, random_engine& random) {
  std::vector<sample> samples;
  for (std::size_t i = 0; i < t.samples; ++i) samples.push_back(t.draw(size, from, random));
  return samples;
}

}  // namespace

sample reversed(std::size_t size, random_engine& random) {
  const std::string all = digits(size, random);
  return between_ends(all, {all.rbegin(), all.rend()});
}

sample sorted(std::size_t size, random_engine& random) {
  const std::string all = digits(size, random);
  std::string answer = all;
  std::ranges::sort(answer);
  return between_ends(all, answer);
}

sample back(std::size_t size, random_engine& random) {
  const std::string all = digits(size, random);
  const std::size_t none = std::min(size, places_back);
  return between_ends(all, std::string(none, '\0') + all.substr(0, size - none));
}

sample added(std::size_t size, random_engine& random) {
  const std::string a = "0" + digits(size, random), b = "0" + digits(size, random);
  std::string sum = a;
  int carry = 0;
  for (std::size_t i = sum.size(); i-- > 0;) {
    const int digit = (a[i] - '0') + (b[i] - '0') + carry;
    sum[i] = static_cast<char>('0' + digit % 10);
    carry = digit / 10;
  }
  return {a + "+" + b, std::string(a.size() + 1, '\0') + sum};
}

std::vector<task> tasks(examples::corpus text) {
  const auto of_digits = [](sample (*make)(std::size_t, random_engine&)) {
    return [make](std::size_t size, part, random_engine& random) { return make(size, random); };
  };
  const auto shared = std::make_shared<const examples::corpus>(std::move(text));
  return {
      {.name = "reverse",
       .description = "up to 16 digits backwards",
       .least = 1,
       .most = 16,
       .draw = of_digits(reversed)},
      {.name = "sort",
       .description = "up to 16 digits in order",
       .least = 1,
       .most = 16,
       .draw = of_digits(sorted)},
      {.name = "back",
       .description = "of up to 16 digits the one that stands three places before",
       .least = places_back + 1,
       .most = 16,
       .draw = of_digits(back)},
      {.name = "add",
       .description = "the sum of two numbers of up to 4 digits",
       .least = 1,
       .most = 4,
       .draw = of_digits(added)},
      {.name = "text",
       .description = "the next of 64 characters of a file, of which a position sees those before",
       .causal = true,
       .least = longest_text / 2,
       .most = longest_text / 2,
       .samples = 8,
       .nats = true,
       .draw = [shared](
                   std::size_t size, part from,
                   random_engine& random) { return next_characters(*shared, size, from, random); }},
  };
}

batch::batch(const std::vector<sample>& samples, bool causal)
    : tokens(samples.size(), samples.front().text.size()),
      targets(samples.size(), samples.front().text.size()),
      visible(samples.front().text.size()) {
  const std::size_t length = visible.size();
  for (std::size_t p = 0; p < length; ++p)
    visible(p) = static_cast<std::int32_t>(causal ? p + 1 : length);
  for (std::size_t b = 0; b < samples.size(); ++b)
    for (std::size_t p = 0; p < length; ++p) {
      tokens(b, p) = static_cast<unsigned char>(samples[b].text[p]);
      targets(b, p) = static_cast<unsigned char>(samples[b].answer[p]);
    }
}

batch draw_to_learn(const task& t, random_engine& random) {
  std::uniform_int_distribution<std::size_t> size(t.least, t.most);
  return {draw(t, size(random), part::train, random), t.causal};
}

batch draw_to_measure(const task& t, std::size_t size, random_engine& random) {
  return {draw(t, size, part::held_out, random), t.causal};
}

}  // namespace positions
